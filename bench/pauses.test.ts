import { explainLate, type Pause } from './pauses.ts';

const quick = (count: number) => Array.from({ length: count }, (_, index) => ({ from: index, to: index + 1 }));
const pause = (kind: Pause['kind'], at: number, ms: number): Pause => ({ kind, at, ms });

test('a late delivery counts for the pause that overlaps it most', () => {
  const late = { from: 1_000, to: 1_021 };
  const pauses = new Map([
    ['API', [pause('quick collection', 995, 8)]],
    ['worker', [pause('full collection', 1_004, 12), pause('quick collection', 5_000, 30)]],
  ]);
  const { rows } = explainLate('t', [...quick(99), late], pauses);
  expect(rows).toEqual([['worker: full collection', '100 %', 12, 1, 12, 12]]);
});

test('an event loop that a collection stopped counts for the collection', () => {
  const late = { from: 1_000, to: 1_021 };
  const pauses = new Map([['worker', [pause('event loop', 1_000, 15), pause('quick collection', 1_001, 14)]]]);
  expect(explainLate('t', [...quick(99), late], pauses).rows[0]?.[0]).toBe('worker: quick collection');
});

test('what no pause overlaps for half of its delay is explained by nothing', () => {
  const late = { from: 1_000, to: 1_021 };
  const pauses = new Map([['worker', [pause('event loop', 1_000, 9)]]]);
  expect(explainLate('t', [...quick(99), late], pauses).rows[0]?.slice(0, 2)).toEqual(['nothing of these', '100 %']);
});
