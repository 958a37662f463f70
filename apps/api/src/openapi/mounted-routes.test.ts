import type { Express } from 'express';
import { createApp } from '../create-app.ts';
import { createBoard } from '../operators/board/create-board.ts';
import { REPLAY_ROUTES } from '../replays/replay-routes.ts';
import { admitEverybody, createRouter } from '../routing/create-router.ts';
import { createOpenApiDocument } from './create-document.ts';

/** Pages for people and programs that read about the API; they are no part of it. */
const UNDOCUMENTED = [
  'GET /openapi.json', // the document itself
  'GET /docs', // the document for people, and what that page loads
  'GET /docs/page.css',
  'GET /docs/page.js',
  'GET /docs/receiving',
  'GET /docs/pages.css',
  'GET /docs/swagger-ui.css',
  'GET /docs/swagger-ui-bundle.js',
  'GET /docs/favicon-32x32.png',
  'GET /console{/*path}', // a program for people, and what it loads
  'GET /console/assets/{*path}',
  'GET /admin{/*path}',
  'GET /metrics', // for Prometheus
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
  return createApp({
    config: { rateLimit: 0, proxyCount: 0, frameAncestors: [], secretsKeys: [] },
    metrics: {},
    audit: () => Promise.resolve(),
    apiKeys: {},
    keyspace: { shards: [] },
    untrustedProxy: { note: () => undefined },
    operators: { createBoard, operator: { user: 'olga', password: 'correct horse', canWrite: true } },
  } as never);
}

test('every mounted route is documented, and every documented one is mounted', () => {
  // The board is a program of its own.
  const mounted = routesOf(stackOf(createWholeApp())).filter((route) => !route.includes(' /admin/queues'));
  expect(mounted.filter((route, index) => mounted.indexOf(route) !== index)).toEqual([]);
  expect(mounted.sort()).toEqual([...documented, ...UNDOCUMENTED].sort());
});

test('a route that nobody documented is found', () => {
  const app = createWholeApp();
  app.use(
    '/surprise',
    createRouter(REPLAY_ROUTES, {} as never, { judge: admitEverybody, audit: () => Promise.resolve() }),
  );
  expect(routesOf(stackOf(app))).toEqual(expect.arrayContaining(['GET /surprise/{id}', 'DELETE /surprise/{id}']));
});
