import type { TopologyKind } from '../tests/support/start-topology.ts';
import { createRandom } from './random.ts';

export type Scenario = {
  readonly topology: TopologyKind;
  readonly shards: number;
  /** Settled deliveries move to a PostgreSQL, which has faults too. */
  readonly history: boolean;
  /** The slots of shards move between the masters of a cluster. */
  readonly moves: boolean;
};

const SINGLE_SHARE = 0.6;
const SENTINEL_SHARE = 0.2;
const HISTORY_SHARE = 1 / 3;
const MOVES_SHARE = 1 / 3;
const SHARDS: Readonly<Record<TopologyKind, readonly number[]>> = {
  single: [1, 3],
  sentinel: [1, 3],
  cluster: [3, 6],
};

/** What isn't asked for follows from the seed, and so does always the number of shards. */
export function chooseScenario(seed: number, asked: Partial<Pick<Scenario, 'topology' | 'history'>> = {}): Scenario {
  const topology = asked.topology ?? chooseTopology(createRandom(seed, 'topology').next());
  return {
    topology,
    shards: createRandom(seed, 'shards').pick(SHARDS[topology]),
    history: asked.history ?? createRandom(seed, 'history').chance(HISTORY_SHARE),
    moves: topology === 'cluster' && createRandom(seed, 'moves').chance(MOVES_SHARE),
  };
}

export function describeScenario({ topology, shards, history, moves }: Scenario): string {
  return `${topology}, ${shards} shards${moves ? ' that move' : ''}${history ? ', history' : ''}`;
}

function chooseTopology(drawn: number): TopologyKind {
  if (drawn < SINGLE_SHARE) return 'single';
  return drawn < SINGLE_SHARE + SENTINEL_SHARE ? 'sentinel' : 'cluster';
}
