import Sequencer from '@jest/test-sequencer';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findPace } from './runner/pace.ts';

/** The files that take longest, in order: more than 20 s in the whole suite. `npm test` prints the ten slowest. */
const LONGEST = [
  'tests/e2e/console/journeys.test.ts',
  'tests/e2e/fleet/dead-destination.test.ts',
  'tests/integration/shards/reshard.test.ts',
  'tests/e2e/history/outages.test.ts',
  'tests/e2e/console/accessibility.test.ts',
  'tests/e2e/fleet/replay.test.ts',
  'tests/e2e/history/kills.test.ts',
  'packages/egress/src/create-sender.test.ts',
  'packages/egress/src/answers.test.ts',
  'tests/integration/every-script/every-script.test.ts',
  'tests/e2e/console/operators.test.ts',
  'tests/e2e/clocks.test.ts',
  'tests/e2e/topologies/delivery-suite.test.ts',
  'tests/e2e/silence/silent-connections.test.ts',
  'tests/e2e/topologies/failover.test.ts',
  'tests/e2e/fleet/kills.test.ts',
  'tests/e2e/shards/reshard.test.ts',
  'tests/e2e/versions.test.ts',
  'tests/e2e/tenancy/rights.test.ts',
  'tests/e2e/operators/board-rights.test.ts',
  'tests/e2e/fleet/recovery.test.ts',
  'tests/integration/shards/data-loss.test.ts',
  'tests/integration/shards/upgrade/upgrade.test.ts',
  'tests/e2e/fleet/order.test.ts',
  'tests/e2e/openapi/served-document.test.ts',
  'tests/e2e/fleet/limit.test.ts',
  'tests/e2e/crash-of-a-worker.test.ts',
  'tests/e2e/crash-of-redis.test.ts',
  'tests/e2e/notices.test.ts',
  'tests/e2e/topologies/secured-redis.test.ts',
  'tests/e2e/local-set-up.test.ts',
  'tests/e2e/documents/guides.test.ts',
  'tests/e2e/tenancy/foreign-keys-and-ids.test.ts',
].map((path) => fileURLToPath(new URL(`../${path}`, import.meta.url)));

/** The share of the run's files after which the last of the longest starts. */
const LONGEST_UNTIL = 0.75;

/**
 * A run is over when its last file is, so the longest come first. They mostly wait for other processes, so the others
 * are spread evenly between them, each kind in jest's order. Else half of the processors' time would be left at first,
 * and none at last.
 */
export default class FileOrder extends Sequencer {
  sort(tests) {
    const gone = LONGEST.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`tests/file-order.js names what is not there: ${gone.join(', ')}`);
    const kinds = Map.groupBy(super.sort(tests), kindOf);
    kinds.get('longest')?.sort((one, other) => LONGEST.indexOf(one.path) - LONGEST.indexOf(other.path));
    const placed = [...kinds].flatMap(([kind, files]) => spread(files, kind === 'longest' ? LONGEST_UNTIL : 1));
    const inOrder = placed.sort((one, other) => one.place - other.place).map(({ test }) => test);
    // A slow machine has no time left between them, and may leave out what comes last.
    return findPace().isSlow
      ? inOrder.sort((one, other) => KINDS.indexOf(kindOf(one)) - KINDS.indexOf(kindOf(other)))
      : inOrder;
  }
}

/** From the quickest. */
const KINDS = ['unit', 'integration', 'e2e', 'longest', 'soak'];

function kindOf({ path, context }) {
  return LONGEST.includes(path) ? 'longest' : context.config.displayName?.name;
}

/** Places of these files in the run, from 0 to a share of it. */
function spread(tests, until) {
  return tests.map((test, index) => ({ test, place: (index / tests.length) * until }));
}
