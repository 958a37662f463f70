import { createPlan, type Action } from './plan.ts';
import type { Scenario } from './scenario.ts';

const SINGLE: Scenario = { topology: 'single', shards: 1, history: false, moves: false };
const CLUSTER: Scenario = { topology: 'cluster', shards: 3, history: false, moves: false };

const targetOf = (action: Action) => {
  if (action.kind === 'redis' || action.kind === 'replicas') return 'redis';
  if (action.kind === 'history') return 'history';
  return `${action.kind} ${action.kind === 'receiver' ? action.index : action.slot}`;
};

/** All faults of some seeds. Overlapping faults of one target are an error. */
function seenOver(scenario: Scenario): string[] {
  const seen = new Set<string>();
  for (let seed = 0; seed < 30; seed++) {
    const plan = createPlan(seed, 60, scenario);
    for (const actions of Map.groupBy(plan, targetOf).values()) {
      for (const [index, { atMs, forMs }] of actions.entries()) {
        expect(actions[index + 1]?.atMs ?? Infinity).toBeGreaterThan(atMs + forMs);
      }
    }
    for (const action of plan) seen.add('fault' in action ? `${action.kind} ${action.fault}` : action.mood);
  }
  return [...seen].sort();
}

const ON_EVERY_TOPOLOGY = [
  ...['error', 'flap', 'hang', 'lazy', 'refuse', 'reset', 'slow', 'too-many'],
  ...['process kill', 'process pause', 'process stop'],
  ...['clock hour-ahead', 'clock hour-behind', 'clock second-ahead', 'clock too-fast'],
];

test('the same seed gives the same plan, another seed another one', () => {
  expect(createPlan(7, 60, SINGLE)).toEqual(createPlan(7, 60, SINGLE));
  expect(createPlan(7, 60, SINGLE)).not.toEqual(createPlan(8, 60, SINGLE));
});

test('a longer run begins like a shorter one', () => {
  const early = (seconds: number) => createPlan(7, seconds, CLUSTER).filter(({ atMs }) => atMs < 29_000);
  expect(early(300)).toEqual(early(30));
});

test('faults of one target never overlap, and over some seeds everything goes wrong that can', () => {
  expect(seenOver(SINGLE)).toEqual(
    [
      ...ON_EVERY_TOPOLOGY,
      ...['link cut', 'link delay', 'link forget', 'link silence'],
      ...['redis crowded', 'redis full-disk', 'redis full-memory', 'redis kill', 'redis pause'],
    ].sort(),
  );
});

test('with a history PostgreSQL goes wrong too, and everything else as without', () => {
  const scenario = { ...SINGLE, history: true };
  expect(seenOver(scenario)).toEqual(
    [
      ...seenOver(SINGLE),
      ...['cut', 'cut-detach', 'delay', 'forget', 'hold', 'kill', 'pause', 'silence', 'stop', 'unset'].map(
        (fault) => `history ${fault}`,
      ),
    ].sort(),
  );
  const others = createPlan(7, 60, scenario).filter(({ kind }) => kind !== 'history');
  expect(others).toEqual(createPlan(7, 60, SINGLE));
});

test('where there are replicas, they and their masters go wrong instead, those of every shard', () => {
  expect(seenOver(CLUSTER)).toEqual(
    [
      ...ON_EVERY_TOPOLOGY,
      ...['failover', 'full-memory', 'kill-replica', 'pause-master', 'pause-replica', 'restart'].map(
        (fault) => `replicas ${fault}`,
      ),
    ].sort(),
  );
  const shards = createPlan(7, 600, CLUSTER).flatMap((action) => (action.kind === 'replicas' ? action.shard : []));
  expect([...new Set(shards)].sort()).toEqual([0, 1, 2]);
});

test('where shards move, they go to other masters, and to new ones, beside all other faults', () => {
  const moves = ['replicas grow', 'replicas move-slots'];
  expect(seenOver({ ...CLUSTER, moves: true })).toEqual([...seenOver(CLUSTER), ...moves].sort());
});
