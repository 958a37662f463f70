import { createPendingReports } from './pending-reports.ts';

const fill = (limits: { maxItems: number; maxBytes: number }, ...tasks: readonly string[]) => {
  const pending = createPendingReports<{ taskId: string; bytes: number; name: string }>(limits);
  for (const [index, taskId] of tasks.entries()) pending.add({ taskId, bytes: 10, name: `${taskId}${index}` });
  return { ...pending, names: () => pending.take().map(({ name }) => name) };
};

test('a batch has the oldest reports, as many as it may', () => {
  const { names, count } = fill({ maxItems: 2, maxBytes: 100 }, 'a', 'b', 'c');
  expect([names(), count(), names(), names()]).toEqual([['a0', 'b1'], 1, ['c2'], []]);
});

test('a batch ends before it has too many bytes, and one report is never too large for it', () => {
  expect(fill({ maxItems: 9, maxBytes: 20 }, 'a', 'b', 'c').names()).toEqual(['a0', 'b1']);
  expect(fill({ maxItems: 9, maxBytes: 5 }, 'a', 'b').names()).toEqual(['a0']);
});

test('reports of a Task whose batch is under way wait in their order, and those of others pass them', () => {
  const pending = createPendingReports<{ taskId: string; bytes: number; name: string }>({ maxItems: 2, maxBytes: 100 });
  const add = (taskId: string, name: string) => {
    pending.add({ taskId, bytes: 1, name });
  };
  const names = (batch: readonly { name: string }[]) => batch.map(({ name }) => name);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'c1']) add(name.slice(0, 1), name);
  const first = pending.take();
  expect(names(first)).toEqual(['a1', 'a2']);
  expect(names(pending.take())).toEqual(['b1', 'c1']);
  expect(names(pending.take())).toEqual([]);
  pending.release(first);
  expect(names(pending.take())).toEqual(['a3', 'a4']);
});

test('a Task with many reports costs no more for each than many Tasks', () => {
  const millisecondsFor = (taskOf: (index: number) => string) => {
    const pending = createPendingReports<{ taskId: string; bytes: number }>({ maxItems: 500, maxBytes: 1e9 });
    const startedAt = performance.now();
    for (let index = 0; index < 20_000; index++) {
      pending.add({ taskId: taskOf(index), bytes: 1 });
      if (pending.count() >= 500) pending.take(); // nothing more of a busy Task
    }
    return performance.now() - startedAt;
  };
  millisecondsFor(String);
  expect(millisecondsFor(() => 'hot')).toBeLessThan(10 * millisecondsFor(String) + 50);
});
