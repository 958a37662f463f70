import Sequencer from '@jest/test-sequencer';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The files that take longest, in order: more than 20 s in the whole suite. `npm test` prints the ten slowest. */
const LONGEST = [
  'tests/e2e/console/journeys.test.ts',
  'tests/e2e/console/accessibility.test.ts',
  'tests/e2e/fleet/dead-destination.test.ts',
  'tests/e2e/fleet/replay.test.ts',
  'tests/e2e/topologies/delivery-suite.test.ts',
  'tests/e2e/local-set-up.test.ts',
  'tests/e2e/silence/silent-connections.test.ts',
  'tests/e2e/history/kills.test.ts',
  'tests/e2e/history/outages.test.ts',
  'tests/e2e/fleet/recovery.test.ts',
  'tests/e2e/topologies/failover.test.ts',
  'tests/e2e/clocks.test.ts',
  'tests/e2e/fleet/kills.test.ts',
  'tests/e2e/versions.test.ts',
  'tests/e2e/crash-of-a-worker.test.ts',
  'tests/e2e/shards/reshard.test.ts',
  'tests/integration/shards/data-loss.test.ts',
  'tests/e2e/fleet/order.test.ts',
  'tests/e2e/fleet/limit.test.ts',
  'tests/e2e/fleet/rate.test.ts',
  'tests/e2e/crash-of-an-idempotent-request.test.ts',
  'tests/e2e/topologies/secured-redis.test.ts',
  'tests/e2e/crash-of-redis.test.ts',
  'tests/integration/shards/reshard.test.ts',
  'tests/e2e/egress/proxy.test.ts',
  'tests/e2e/test-operation.test.ts',
].map((path) => fileURLToPath(new URL(`../${path}`, import.meta.url)));

const PROJECTS = ['e2e', 'integration', 'unit'];

/**
 * A run is over when its last file is. Jest starts first what took longest the last time. In a fresh clone it knows no
 * times and goes by the size of the files, which leaves long tests of few lines for the end.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const gone = LONGEST.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`tests/longest-first.js names what is not there: ${gone.join(', ')}`);
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const places = new Map(sorted.map((test) => [test, placeOf(test)]));
    return sorted.sort((a, b) => places.get(a) - places.get(b));
  }
}

/** Files of unknown length come after the longest, those of a slower project first. */
function placeOf({ path, context }) {
  const known = LONGEST.indexOf(path);
  return known === -1 ? LONGEST.length + PROJECTS.indexOf(context.config.displayName?.name) : known;
}
