import type { TopologyKind } from '../tests/support/start-topology.ts';
import { createRandom } from './random.ts';

/** The topology and the shards of a run. */
export type Scenario = { readonly topology: TopologyKind; readonly shards: number };

const SINGLE_SHARE = 0.6;
const SENTINEL_SHARE = 0.2;
const SHARDS: Readonly<Record<TopologyKind, readonly number[]>> = {
  single: [1, 3],
  sentinel: [1, 3],
  cluster: [3, 6],
};

/** Both follow from the seed. With a requested topology, only the number of shards does. */
export function chooseScenario(seed: number, asked?: TopologyKind): Scenario {
  const topology = asked ?? chooseTopology(createRandom(seed, 'topology').next());
  return { topology, shards: createRandom(seed, 'shards').pick(SHARDS[topology]) };
}

function chooseTopology(drawn: number): TopologyKind {
  if (drawn < SINGLE_SHARE) return 'single';
  return drawn < SINGLE_SHARE + SENTINEL_SHARE ? 'sentinel' : 'cluster';
}
