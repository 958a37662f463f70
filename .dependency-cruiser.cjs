const { MAY_IMPORT } = require('./scripts/layers.cjs');

/** Of the sources of each package: other packages of this repository that they may not import. */
const looksDown = Object.entries(MAY_IMPORT).map(([own, allowed]) => ({
  name: `${own.replace('/', '-')}-looks-down`,
  severity: 'error',
  from: { path: `^${own}/src`, pathNot: '\\.test\\.tsx?$' },
  to: {
    path: '^(apps|packages)/[^/]+/src/',
    pathNot: `^(${[own, ...allowed.map((name) => `packages/${name}`)].join('|')})/`,
  },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...looksDown,
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-circular-folders', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    {
      name: 'core-is-pure',
      comment: 'core knows zod and Node, nothing else',
      severity: 'error',
      from: { path: '^packages/core/src', pathNot: '\\.test\\.ts$' },
      to: { pathNot: ['^packages/core/src', '^node_modules/zod'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'receiver-stands-alone',
      comment: 'customers install it: it knows Node and itself, nothing else',
      severity: 'error',
      from: { path: '^packages/receiver/src', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^packages/receiver/src', dependencyTypesNot: ['core'] },
    },
    {
      name: 'queue-stands-alone',
      comment: 'it could be published: it knows BullMQ, zod, Node and itself, nothing of webhooks',
      severity: 'error',
      from: { path: '^packages/queue/src', pathNot: '\\.test\\.ts$' },
      to: { pathNot: ['^packages/queue/src', '^node_modules/(bullmq|zod)'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'nothing-imports-an-app',
      severity: 'error',
      from: { pathNot: '^(apps/([^/]+)/|tests/|bench/)' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-stand-alone',
      comment: 'their tests, too',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'clients-stay-behind-packages',
      comment: 'bullmq is also known to the adapter of the worker',
      severity: 'error',
      from: {
        path: '^(apps|packages)/',
        pathNot: ['^packages/(egress|store|queue|history|test-kit)/', '^apps/worker/src/queue\\.'],
      },
      to: { path: '^node_modules/(bullmq|ioredis|got|pg|node-pg-migrate)' },
    },
    {
      name: 'only-egress-opens-connections',
      comment: 'the guard is the one way out; of http and net oxlint.config.ts lets pass what a server needs',
      severity: 'error',
      from: {
        path: '^(apps|packages)/',
        pathNot: ['^packages/egress/src/', '^packages/test-kit/', '^apps/build\\.js$', '\\.test\\.ts$'],
      },
      to: {
        path: '^(https|http2|tls|dns|dns/promises|dgram|child_process|cluster|undici|node_modules/undici/.*)$',
        dependencyTypesNot: ['type-only'],
      },
    },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, path: 'src/', pathNot: '\\.test\\.ts$' }, to: {} },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['source', 'import', 'node', 'default'] },
  },
};
