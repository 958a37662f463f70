import type { TopologyKind } from '../tests/support/start-topology.ts';
import { createRandom } from './random.ts';
import type { Scenario } from './scenario.ts';

export const API_SLOTS = ['api-1', 'api-2'] as const;
export const WORKER_SLOTS = ['worker-1', 'worker-2', 'worker-3'] as const;
export const SLOTS = [...API_SLOTS, ...WORKER_SLOTS];
export type Slot = (typeof SLOTS)[number];

/** SIGKILL or SIGTERM, and at the end a start; or SIGSTOP, and at the end SIGCONT. */
export type ProcessFault = 'kill' | 'stop' | 'pause';
/**
 * Faults of a process's connections to Redis: they break; nothing passes; everything is late; existing connections are
 * silently dead for good, while new ones work.
 */
export type LinkFault = 'cut' | 'silence' | 'delay' | 'forget';
/** Faults of a machine's clock: it jumps by an hour, or by little more than a second, or runs too fast. */
export type ClockFault = 'hour-ahead' | 'hour-behind' | 'second-ahead' | 'too-fast';
/** Faults of a single server. 'crowded': its memory is so full that those who hold the most are refused. */
export type ServerFault = 'kill' | 'pause' | 'full-memory' | 'full-disk' | 'crowded';
/**
 * Faults of a master with a replica, or of the replica. 'failover': the master is killed, and restarted when the
 * replica has replaced it. 'restart': it is restarted at once. 'pause': SIGSTOP; a master is paused so long that it may
 * be replaced. 'full-memory': a master has no memory left. 'move-slots': the shard goes to another master.
 * 'grow': a master and its replica join, once, and the slots are balanced over all masters.
 */
export type ReplicaFault =
  | 'failover'
  | 'restart'
  | 'pause-master'
  | 'kill-replica'
  | 'pause-replica'
  | 'full-memory'
  | 'move-slots'
  | 'grow';
/**
 * Faults of the PostgreSQL that has the history: SIGKILL, a fast shutdown, SIGSTOP of all of its processes; somebody reads
 * every day in a transaction that stays open ('hold'); so does he, and the detaching of an old day is cut off beside him
 * ('cut-detach'). Or of the way to it, which all processes share. 'unset': workers that start meanwhile have no
 * HISTORY_URL, until they are started again.
 */
export type HistoryFault = 'kill' | 'stop' | 'pause' | 'hold' | 'cut-detach' | 'unset' | LinkFault;
/** The answers of a receiver; 'lazy': a 2xx so late that it gets the slots of slow ones; 'refuse': its port is closed. */
export type Mood = 'good' | 'slow' | 'lazy' | 'hang' | 'error' | 'flap' | 'reset' | 'too-many' | 'refuse';

export type Action = {
  /** From the start of the run, in ms. */
  readonly atMs: number;
  /** Duration of the fault, in ms. */
  readonly forMs: number;
} & (
  | { readonly kind: 'process'; readonly slot: Slot; readonly fault: ProcessFault }
  | { readonly kind: 'link'; readonly slot: Slot; readonly fault: LinkFault }
  | { readonly kind: 'clock'; readonly slot: Slot; readonly fault: ClockFault }
  | { readonly kind: 'redis'; readonly fault: ServerFault }
  /** A fault of the servers that hold this shard. */
  | { readonly kind: 'replicas'; readonly shard: number; readonly fault: ReplicaFault }
  | { readonly kind: 'history'; readonly fault: HistoryFault }
  | { readonly kind: 'receiver'; readonly index: number; readonly mood: Mood }
);

export const RECEIVERS = 6;

/** Longest SIGSTOP of a process, in ms: longer than a lease, so that another process gets its deliveries. */
export const LONGEST_PAUSE_MS = 28_000;
/** Time without new faults before the end, in ms. */
const QUIET_END_MS = 1_000;

/** `[least, most]` in ms */
type Span = readonly [number, number];
type Track = {
  readonly name: string;
  /** Time between the end of one fault and the beginning of the next. */
  readonly gap: Span;
  readonly faults: readonly { readonly lasts: Span; readonly weight: number; readonly fault: Fault }[];
};
type Fault = Action extends infer One ? (One extends Action ? Omit<One, 'atMs' | 'forMs'> : never) : never;

function processTrack(slot: Slot): Track {
  const isApi = slot.startsWith('api');
  return {
    name: `process ${slot}`,
    gap: isApi ? [4_000, 16_000] : [3_000, 12_000],
    faults: [
      { weight: 5, lasts: [0, 4_000], fault: { kind: 'process', slot, fault: 'kill' } },
      { weight: 3, lasts: [0, 4_000], fault: { kind: 'process', slot, fault: 'stop' } },
      { weight: 2, lasts: [500, 8_000], fault: { kind: 'process', slot, fault: 'pause' } },
      ...(isApi
        ? []
        : [
            {
              weight: 1,
              lasts: [21_000, LONGEST_PAUSE_MS] as const,
              fault: { kind: 'process', slot, fault: 'pause' } as const,
            },
          ]),
    ],
  };
}

function linkTrack(slot: Slot): Track {
  return {
    name: `link ${slot}`,
    gap: [5_000, 20_000],
    faults: [
      { weight: 4, lasts: [0, 3_000], fault: { kind: 'link', slot, fault: 'cut' } },
      { weight: 2, lasts: [1_000, 8_000], fault: { kind: 'link', slot, fault: 'silence' } },
      { weight: 3, lasts: [2_000, 10_000], fault: { kind: 'link', slot, fault: 'delay' } },
      // For the affected connections it never ends.
      { weight: 4, lasts: [0, 0], fault: { kind: 'link', slot, fault: 'forget' } },
    ],
  };
}

function clockTrack(slot: Slot): Track {
  const faults: readonly ClockFault[] = ['hour-ahead', 'hour-behind', 'second-ahead', 'too-fast'];
  return {
    name: `clock ${slot}`,
    gap: [2_000, 15_000],
    faults: faults.map((fault) => ({ weight: 1, lasts: [2_000, 20_000], fault: { kind: 'clock', slot, fault } })),
  };
}

const SERVER_TRACK: Track = {
  name: 'redis',
  // Redis flushes its file within a second after the disk has room again. A kill before would lose acknowledged writes.
  gap: [3_000, 9_000],
  faults: [
    { weight: 4, lasts: [0, 3_000], fault: { kind: 'redis', fault: 'kill' } },
    { weight: 2, lasts: [500, 6_000], fault: { kind: 'redis', fault: 'pause' } },
    { weight: 2, lasts: [500, 4_000], fault: { kind: 'redis', fault: 'full-memory' } },
    { weight: 2, lasts: [1_000, 4_000], fault: { kind: 'redis', fault: 'full-disk' } },
    { weight: 2, lasts: [2_000, 5_000], fault: { kind: 'redis', fault: 'crowded' } },
  ],
};

function replicasTrack(topology: Exclude<TopologyKind, 'single'>, shards: number, moves: boolean): Track {
  const faults: readonly [ReplicaFault, number, Span][] = [
    ['failover', 4, [0, 5_000]],
    ['restart', 1, [0, 1_000]],
    ['pause-master', 2, [1_000, 7_000]],
    ['kill-replica', 1, [0, 3_000]],
    ['pause-replica', 2, [500, 4_000]],
    ['full-memory', 2, [500, 4_000]],
    ['move-slots', moves ? 7 : 0, [0, 0]],
    ['grow', moves ? 3 : 0, [0, 0]],
  ];
  // Sentinels watch a single master, which holds all shards.
  const numbers = topology === 'sentinel' ? [0] : Array.from({ length: shards }, (_, shard) => shard);
  return {
    name: 'replicas',
    gap: [3_000, 9_000],
    faults: numbers.flatMap((shard) =>
      faults.map(([fault, weight, lasts]) => ({ weight, lasts, fault: { kind: 'replicas' as const, shard, fault } })),
    ),
  };
}

const HISTORY_TRACK: Track = {
  name: 'history',
  gap: [2_000, 7_000],
  faults: [
    { weight: 3, lasts: [0, 4_000], fault: { kind: 'history', fault: 'kill' } },
    { weight: 2, lasts: [1_000, 8_000], fault: { kind: 'history', fault: 'stop' } },
    { weight: 2, lasts: [1_000, 8_000], fault: { kind: 'history', fault: 'pause' } },
    { weight: 2, lasts: [3_000, 15_000], fault: { kind: 'history', fault: 'hold' } },
    { weight: 2, lasts: [1_000, 8_000], fault: { kind: 'history', fault: 'cut-detach' } },
    { weight: 2, lasts: [4_000, 15_000], fault: { kind: 'history', fault: 'unset' } },
    { weight: 2, lasts: [0, 3_000], fault: { kind: 'history', fault: 'cut' } },
    { weight: 1, lasts: [1_000, 8_000], fault: { kind: 'history', fault: 'silence' } },
    { weight: 2, lasts: [2_000, 8_000], fault: { kind: 'history', fault: 'delay' } },
    { weight: 1, lasts: [0, 0], fault: { kind: 'history', fault: 'forget' } },
  ],
};

function receiverTrack(index: number): Track {
  const moods: readonly [Mood, number][] = [
    ['slow', 2],
    ['lazy', 4],
    ['hang', 2],
    ['error', 2],
    ['flap', 3],
    ['reset', 2],
    ['too-many', 2],
    ['refuse', 2],
  ];
  return {
    name: `receiver ${index}`,
    gap: [1_000, 9_000],
    faults: moods.map(([mood, weight]) => ({
      weight,
      lasts: [1_000, 9_000],
      fault: { kind: 'receiver', index, mood },
    })),
  };
}

/**
 * The faults of a run, in order of time. The same seed and scenario give the same plan. A longer run begins like a
 * shorter one, and one with a history has the faults of one without. Clients that learn the servers' addresses from the servers connect directly, so their links can't be
 * cut.
 */
export function createPlan(seed: number, seconds: number, { topology, shards, history, moves }: Scenario): Action[] {
  const tracks = [
    ...SLOTS.map(processTrack),
    ...SLOTS.map(clockTrack),
    ...(topology === 'single' ? [...SLOTS.map(linkTrack), SERVER_TRACK] : [replicasTrack(topology, shards, moves)]),
    ...(history ? [HISTORY_TRACK] : []),
    // The first receiver has no faults.
    ...Array.from({ length: RECEIVERS - 1 }, (_, index) => receiverTrack(index + 1)),
  ];
  return tracks.flatMap((track) => planTrack(track, seed, seconds * 1_000)).sort((a, b) => a.atMs - b.atMs);
}

function planTrack({ name, gap, faults }: Track, seed: number, endMs: number): Action[] {
  const random = createRandom(seed, name);
  const weighted = faults.flatMap((each) => Array<typeof each>(each.weight).fill(each));
  const actions: Action[] = [];
  for (let atMs = random.between(500, gap[1]); atMs < endMs - QUIET_END_MS;) {
    const { lasts, fault } = random.pick(weighted);
    const forMs = random.between(...lasts);
    actions.push({ atMs, forMs, ...fault });
    atMs += forMs + random.between(...gap);
  }
  return actions;
}

export function describeAction(action: Action): string {
  return `${(action.atMs / 1_000).toFixed(2).padStart(7)} s  ${describeFault(action)}, ${(action.forMs / 1_000).toFixed(2)} s`;
}

function describeFault(action: Action): string {
  switch (action.kind) {
    case 'process':
      return `${action.slot} ${action.fault}`;
    case 'link':
      return `${action.slot} link ${action.fault}`;
    case 'clock':
      return `${action.slot} clock ${action.fault}`;
    case 'redis':
      return `redis ${action.fault}`;
    case 'replicas':
      return `redis ${action.fault}, shard ${action.shard}`;
    case 'history':
      return `history ${action.fault}`;
    case 'receiver':
      return `receiver ${action.index} ${action.mood}`;
  }
}
