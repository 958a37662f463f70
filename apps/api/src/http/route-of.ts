import type { Express, Request } from 'express';

const routes = new WeakMap<Request, string>();

/** The path pattern of a request's route, such as `/tasks/:id`; undefined if it reached no route. */
export function routeOf(req: Request): string | undefined {
  return routes.get(req);
}

/**
 * Remembers the route of each request of this app. Express forgets the path of a mounted router when a handler throws,
 * so this notes the route when Express finds it.
 */
export function rememberRoutes(app: Express): void {
  const found = new WeakMap<Request, unknown>();
  Object.defineProperty(app.request, 'route', {
    configurable: true,
    get(this: Request): unknown {
      return found.get(this);
    },
    set(this: Request, route: { readonly path: unknown } | undefined) {
      found.set(this, route);
      if (typeof route?.path === 'string') routes.set(this, (this.baseUrl + route.path).replace(/(?<=.)\/$/, ''));
    },
  });
}
