/** The layers of the design: apps → config → store, egress → runtime; store → queue; all but runtime and queue → core. @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
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
      name: 'runtime-looks-down',
      comment: 'the ground floor: it knows nothing of Herald',
      severity: 'error',
      from: { path: '^packages/runtime/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^(apps|packages/(?!(runtime)/))' },
    },
    {
      name: 'egress-looks-down',
      comment: 'it could be published',
      severity: 'error',
      from: { path: '^packages/egress/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^(apps|packages/(?!(core|runtime|egress)/))' },
    },
    {
      name: 'history-looks-down',
      severity: 'error',
      from: { path: '^packages/history/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^(apps|packages/(?!(core|history)/))' },
    },
    {
      name: 'store-looks-down',
      severity: 'error',
      from: { path: '^packages/store/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^(apps|packages/(?!(core|queue|runtime|store)/))' },
    },
    {
      name: 'config-looks-down',
      severity: 'error',
      from: { path: '^packages/config/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^(apps|packages/(?!(core|egress|runtime|store|config)/))' },
    },
    {
      name: 'nothing-imports-an-app',
      severity: 'error',
      from: { pathNot: '^(apps/([^/]+)/|tests/|bench/)' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-stand-alone',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'test-kit-stays-in-tests',
      severity: 'error',
      from: { path: '^(apps|packages/(core|runtime|egress|queue|store|history|config))/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/test-kit' },
    },
    {
      name: 'clients-stay-behind-packages',
      comment: 'bullmq is also known to the worker adapter and the operator pages',
      severity: 'error',
      from: {
        path: '^(apps|packages)/',
        pathNot: ['^packages/(egress|store|queue|history|test-kit)/', '^apps/(worker|api)/src/queue'],
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
