/**
 * Which package may import which. `npm run check:layers` refuses any other import, and a test any arrow that nothing needs,
 * or that the picture in docs/architecture.md lacks. core is pure; runtime knows nothing of Herald; receiver and client
 * are installed by customers; queue and egress could be published.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const MAY_IMPORT = {
  'packages/core': [],
  'packages/queue': [],
  'packages/runtime': [],
  'packages/receiver': [],
  'packages/client': [],
  'packages/test-kit': [],
  'packages/history': ['core'],
  'packages/egress': ['core', 'runtime'],
  'packages/store': ['core', 'queue', 'runtime'],
  'packages/config': ['core', 'egress', 'runtime', 'store'],
  'apps/api': ['core', 'queue', 'runtime', 'history', 'egress', 'store', 'config'],
  'apps/worker': ['core', 'queue', 'runtime', 'history', 'egress', 'store', 'config'],
  'apps/cli': ['core', 'queue', 'runtime', 'history', 'store', 'config'],
  'apps/console': ['core'],
};

module.exports = { MAY_IMPORT };
