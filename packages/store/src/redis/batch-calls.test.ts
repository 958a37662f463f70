import { batchCalls } from './batch-calls.ts';

/** Items weigh what they are; a negative one makes its call fail. */
function build(limit = 10) {
  const calls: (readonly number[])[] = [];
  const ask = batchCalls<number, string>({
    call: (items) => {
      calls.push(items);
      return items.some((item) => item < 0) ? Promise.reject(new Error('away')) : Promise.resolve(items.map(String));
    },
    weightOf: Math.abs,
    limit,
  });
  return { ask, calls };
}

/** What has been begun in this turn of the event loop goes on in the next one, and is over. */
async function nextTurn(): Promise<void> {
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

test('what is asked for in one turn goes in one call, and everybody gets his own result', async () => {
  const { ask, calls } = build();
  const later = Promise.resolve().then(() => ask(3)); // the same turn: nothing happened in between
  expect(await Promise.all([ask(1), ask(2), later])).toEqual(['1', '2', '3']);
  expect(await ask(4)).toBe('4');
  expect(calls).toEqual([[1, 2, 3], [4]]);
});

test('what several events of one turn ask for goes in one call', async () => {
  const { ask, calls } = build();
  const asked = [1, 2, 3].map((item) => new Promise(setImmediate).then(() => ask(item)));
  expect(await Promise.all(asked)).toEqual(['1', '2', '3']);
  expect(calls).toEqual([[1, 2, 3]]);
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

test('while a call is under way all that is asked for goes into the next batch', async () => {
  const replies: (() => void)[] = [];
  const calls: (readonly number[])[] = [];
  const ask = batchCalls<number, number>({
    call: (items) => {
      calls.push(items);
      return new Promise((resolve) => {
        replies.push(() => {
          resolve(items);
        });
      });
    },
    limit: 3,
  });
  const asked: Promise<number>[] = [];
  for (let item = 0; item < 6; item++) {
    asked.push(ask(item));
    await nextTurn();
  }
  expect(calls).toEqual([[0]]);
  replies[0]?.();
  await asked[0];
  await nextTurn();
  expect(calls).toEqual([[0], [1, 2, 3]]);
  replies[1]?.();
  await asked[3];
  await nextTurn();
  expect(calls).toEqual([[0], [1, 2, 3], [4, 5]]);
  for (const reply of replies) reply();
  expect(await Promise.all(asked)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('a call that fails, fails for its own items, and not for those behind them', async () => {
  const { ask } = build(5);
  const outcomes = await Promise.allSettled([ask(1), ask(-4), ask(5), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await ask(3)).toBe('3');
});

test('a call that answers fewer than were asked for fails', async () => {
  const ask = batchCalls<number, number>({ call: () => Promise.resolve([1]), weightOf: () => 1, limit: 10 });
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
