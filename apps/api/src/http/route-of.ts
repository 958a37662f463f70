import type { Express, Request } from 'express';

const routes = new WeakMap<Request, string>();

/** The pattern of the path that a request was routed to, such as `/tasks/:id`; undefined when it came to no route. */
export function routeOf(req: Request): string | undefined {
  return routes.get(req);
}

/**
 * Remembers where each request of this app is routed to. Express forgets under which path a router is mounted when a
 * handler throws, so it has to be noted at the moment at which the route is found.
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
