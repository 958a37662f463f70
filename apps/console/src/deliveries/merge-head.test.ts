import { mergeHead } from './merge-head.ts';

const row = (id: string, status = 'pending') => ({ id, status });

test('a row that changed changes at its place, and new ones are only counted', () => {
  const merged = mergeHead([row('b'), row('a')], [row('d'), row('c'), row('b', 'delivered')]);
  expect(merged).toEqual({ rows: [row('b', 'delivered'), row('a')], fresh: [row('d'), row('c')], isMore: false });
});

test('where no shown row is among the newest, there may be more than those', () => {
  expect(mergeHead([row('a')], [row('z'), row('y')]).isMore).toBe(true);
  expect(mergeHead([row('a')], []).isMore).toBe(false);
});
