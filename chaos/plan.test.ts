import { createPlan, type Action } from './plan.ts';

const targetOf = (action: Action) =>
  action.kind === 'redis' ? 'redis' : `${action.kind} ${action.kind === 'receiver' ? action.index : action.slot}`;

test('the same seed gives the same plan, another seed another one', () => {
  expect(createPlan(7, 60)).toEqual(createPlan(7, 60));
  expect(createPlan(7, 60)).not.toEqual(createPlan(8, 60));
});

test('a longer run begins like a shorter one', () => {
  const early = (seconds: number) => createPlan(7, seconds).filter(({ atMs }) => atMs < 29_000);
  expect(early(300)).toEqual(early(30));
});

test('faults of one target never overlap, and over some seeds everything goes wrong that can', () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 30; seed++) {
    for (const actions of Map.groupBy(createPlan(seed, 60), targetOf).values()) {
      for (const [index, { atMs, forMs }] of actions.entries()) {
        expect(actions[index + 1]?.atMs ?? Infinity).toBeGreaterThan(atMs + forMs);
      }
    }
    for (const action of createPlan(seed, 60))
      seen.add('fault' in action ? `${action.kind} ${action.fault}` : action.mood);
  }
  expect([...seen].sort()).toEqual([
    ...[
      'error',
      'flap',
      'hang',
      'link cut',
      'link delay',
      'link silence',
      'process kill',
      'process pause',
      'process stop',
    ],
    ...['redis full-disk', 'redis full-memory', 'redis kill', 'redis pause', 'reset', 'slow', 'too-many'],
  ]);
});
