import { createLogger } from '@herald/runtime/log/logger';
import type { Express, RequestHandler } from 'express';
import { createApp } from '../../create-app.ts';
import { createDeliveryRoutes } from '../../deliveries/delivery-routes.ts';
import { createHealthRoutes } from '../../health/health-routes.ts';
import { createReceiverRoutes } from '../../receivers/receiver-routes.ts';
import { createReplayRoutes } from '../../replays/replay-routes.ts';
import { createTaskRoutes } from '../../tasks/task-routes.ts';
import { createTransitionRoutes } from '../../tasks/transition-routes.ts';
import { createOpenApiDocument } from './create-document.ts';
import { createDocumentRoutes } from './document-routes.ts';

/** Pages for people and programs that read about the API; they are no part of it. */
const UNDOCUMENTED = [
  'GET /openapi.json', // the document itself
  'GET /docs', // the document for people, and what that page loads
  'GET /docs/page.css',
  'GET /docs/page.js',
  'GET /docs/swagger-ui.css',
  'GET /docs/swagger-ui-bundle.js',
  'GET /docs/favicon-32x32.png',
];

/** The parts of Express' router that say what is mounted. */
type Layer = {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle: { readonly stack?: readonly Layer[] };
  /** Where it is mounted. */
  readonly rawPath: string;
};

const paths = createOpenApiDocument().paths ?? {};
const documented = Object.entries(paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
);

/** Every method and path under which something is mounted, in the words of the document. */
function routesOf(stack: readonly Layer[], prefix = ''): string[] {
  return stack.flatMap((layer) => {
    if (layer.route) {
      const path = `${prefix}${layer.route.path}`.replaceAll(/:(\w+)/g, '{$1}').replace(/(.)\/$/, '$1');
      const methods = Object.keys(layer.route.methods).filter((method) => method !== '_all');
      return methods.map((method) => `${method.toUpperCase()} ${path}`);
    }
    if (!layer.handle.stack) return [];
    return routesOf(layer.handle.stack, prefix + (layer.rawPath === '/' ? '' : layer.rawPath));
  });
}

function stackOf(app: Express): readonly Layer[] {
  return (app.router as unknown as { stack: readonly Layer[] }).stack;
}

/** The whole app. Nothing in it is called. */
function createWholeApp() {
  const pass: RequestHandler = (_req, _res, next) => {
    next();
  };
  const nothing = {} as never;
  return createApp({
    logger: createLogger({ level: 'error', process: 'api', readable: false }),
    requestMetrics: nothing,
    tracing: undefined,
    authenticate: () => pass,
    limitRate: pass,
    limitBodies: pass,
    idempotency: pass,
    proxyCount: 0,
    operators: undefined,
    health: createHealthRoutes(nothing),
    refuseSilence: pass,
    refuseResharded: pass,
    document: createDocumentRoutes(),
    receivers: createReceiverRoutes(nothing),
    deliveries: createDeliveryRoutes(nothing),
    replays: createReplayRoutes(nothing),
    tasks: createTaskRoutes(nothing),
    executor: createTransitionRoutes({ acceptTransitions: nothing, tasks: nothing, parseSingle: [], parseBatch: [] }),
  });
}

test('every mounted route is documented, and every documented one is mounted', () => {
  const mounted = routesOf(stackOf(createWholeApp()));
  expect(mounted.filter((route, index) => mounted.indexOf(route) !== index)).toEqual([]);
  expect(mounted.sort()).toEqual([...documented, ...UNDOCUMENTED].sort());
});

test('a route that nobody documented is found', () => {
  const app = createWholeApp();
  app.use('/surprise', createReplayRoutes({} as never));
  expect(routesOf(stackOf(app))).toEqual(expect.arrayContaining(['GET /surprise/{id}', 'DELETE /surprise/{id}']));
});
