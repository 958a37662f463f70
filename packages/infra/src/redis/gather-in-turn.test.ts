import { gatherInTurn } from './gather-in-turn.ts';

/** Items weigh what they are; a negative one makes its call fail. */
function build(limit = 10) {
  const calls: (readonly number[])[] = [];
  const ask = gatherInTurn<number, string>({
    call: (items) => {
      calls.push(items);
      return items.some((item) => item < 0) ? Promise.reject(new Error('away')) : Promise.resolve(items.map(String));
    },
    weightOf: Math.abs,
    limit,
  });
  return { ask, calls };
}

test('what is asked for in one turn goes in one call, and everybody gets his own result', async () => {
  const { ask, calls } = build();
  const later = Promise.resolve().then(() => ask(3)); // the same turn: nothing happened in between
  expect(await Promise.all([ask(1), ask(2), later])).toEqual(['1', '2', '3']);
  expect(await ask(4)).toBe('4');
  expect(calls).toEqual([[1, 2, 3], [4]]);
});

test('a call that weighs enough takes no further item, and the order stays', async () => {
  const { ask, calls } = build(10);
  await Promise.all([6, 6, 1, 100, 2, 3].map(ask));
  expect(calls).toEqual([
    [6, 6],
    [1, 100],
    [2, 3],
  ]);
});

test('a call that fails fails for those in it alone', async () => {
  const { ask } = build(5);
  const outcomes = await Promise.allSettled([ask(1), ask(-4), ask(5), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
});

test('a call that answers fewer than were asked for fails', async () => {
  const ask = gatherInTurn<number, number>({ call: () => Promise.resolve([1]), weightOf: () => 1, limit: 10 });
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
