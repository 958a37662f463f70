import type { Express } from 'express';
import { createApp, createOperatorApp } from '../create-app.ts';
import { admitEverybody, createRouter } from '../http/create-router.ts';
import { REPLAY_ROUTES } from '../deliveries/replays.ts';
import { createOpenApiDocument, type DocumentPart } from './create-document.ts';

/** Pages for people and programs that read about the API; they are no part of it. */
const AT_BOTH_PORTS = [
  'GET /openapi.json', // the document itself
  'GET /docs', // the document for people, and what that page loads
  'GET /docs/page.css',
  'GET /docs/page.js',
  'GET /docs/swagger-ui.css',
  'GET /docs/swagger-ui-bundle.js',
  'GET /docs/favicon-32x32.png',
  'GET /console{/*path}', // a program for people, and what it loads; at the port of operators it leads to the other
  'GET /console/assets/{*path}',
];
const FOR_CUSTOMERS = ['GET /docs/receiving', 'GET /docs/pages.css', 'GET /kit/{name}'];
const FOR_OPERATORS = [
  'GET /admin{/*path}',
  'GET /metrics', // for Prometheus
];
const UNDOCUMENTED: Readonly<Record<DocumentPart, readonly string[]>> = {
  all: [...AT_BOTH_PORTS, ...FOR_CUSTOMERS, ...FOR_OPERATORS],
  customers: [...AT_BOTH_PORTS, ...FOR_CUSTOMERS],
  operators: [...AT_BOTH_PORTS, ...FOR_OPERATORS],
};

/** The parts of Express' router that say what is mounted. */
type Layer = {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle: { readonly stack?: readonly Layer[] };
  /** Where it is mounted. */
  readonly rawPath: string;
};

function documentedIn(part: DocumentPart): string[] {
  return Object.entries(createOpenApiDocument(part).paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

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

/** What an app is made of. Nothing in it is called. */
function createContext(operatorListener?: { host: string; port: number }) {
  return {
    config: { rateLimit: 0, proxyCount: 0, frameAncestors: [], allowedOrigins: [], secretsKeys: [], operatorListener },
    resources: { add: () => undefined },
    metrics: {},
    audit: () => Promise.resolve(),
    apiKeys: {},
    shards: {},
    keyspace: { shards: [] },
    untrustedProxy: { note: () => undefined },
    exposition: {},
    operators: { operator: { user: 'olga', password: 'correct horse', canWrite: true } },
  } as never;
}
const OF_THEIR_OWN = { host: '127.0.0.1', port: 8082 };

/** The board is a program of its own. */
const mountedIn = (app: Express) => routesOf(stackOf(app)).filter((route) => !route.includes(' /admin/queues'));

test.each<[string, DocumentPart, () => Express]>([
  ['one port', 'all', () => createApp(createContext())],
  ['the port of customers', 'customers', () => createApp(createContext(OF_THEIR_OWN))],
  ['the port of operators', 'operators', () => createOperatorApp(createContext(OF_THEIR_OWN))],
])('at %s every mounted route is documented, and every documented one is mounted', (_port, part, create) => {
  const mounted = mountedIn(create());
  expect(mounted.filter((route, index) => mounted.indexOf(route) !== index)).toEqual([]);
  expect(mounted.sort()).toEqual([...documentedIn(part), ...UNDOCUMENTED[part]].sort());
});

test('the board is where the other pages of operators are', () => {
  const mountsIn = (stack: readonly Layer[]): string[] =>
    stack.flatMap(({ rawPath, handle }) => [rawPath, ...mountsIn(handle.stack ?? [])]);
  const hasBoard = (app: Express) => mountsIn(stackOf(app)).includes('/admin/queues');
  expect(hasBoard(createApp(createContext()))).toBe(true);
  expect(hasBoard(createApp(createContext(OF_THEIR_OWN)))).toBe(false);
  expect(hasBoard(createOperatorApp(createContext(OF_THEIR_OWN)))).toBe(true);
});

test('the documents of two ports have all that the one has, and only health and themselves in common', () => {
  const [customers, operators] = [documentedIn('customers'), documentedIn('operators')];
  expect([...new Set([...customers, ...operators])].sort()).toEqual(documentedIn('all').sort());
  expect(customers.filter((route) => operators.includes(route))).toEqual(['GET /healthz', 'GET /readyz']);
  const schemesOf = (part: DocumentPart) => Object.keys(createOpenApiDocument(part).components?.securitySchemes ?? {});
  expect([schemesOf('customers'), schemesOf('operators')]).toEqual([
    ['apiKey', 'portalLink', 'operatorLink'],
    ['operator'],
  ]);
});

test('a route that nobody documented is found', () => {
  const app = createApp(createContext());
  app.use(
    '/surprise',
    createRouter(REPLAY_ROUTES, {} as never, { judge: admitEverybody, audit: () => Promise.resolve() }),
  );
  expect(routesOf(stackOf(app))).toEqual(expect.arrayContaining(['GET /surprise/{id}', 'DELETE /surprise/{id}']));
});
