import type { ExecutorClient } from '../create-client.ts';
import { ConnectionError } from '../errors/connection-error.ts';
import { createReporter, type ReporterOptions } from './create-reporter.ts';
import { ReporterFullError } from './reporter-full-error.ts';

type Item = { taskId: string; type: string; checkpointId?: string };
type Result = { transitionId: string } | { error: { code: string; status: number; detail: string } };
type Call = { readonly items: Item[]; answer(results?: Result[]): void; fail(error: Error): void };

const accepted = (items: readonly Item[]): Result[] => items.map((_, index) => ({ transitionId: `trn_${index}` }));
const refused = (code: string): Result => ({ error: { code, status: 409, detail: code } });
const start = (taskId: string) => ({ taskId, type: 'start' }) as const;

/** A reporter, and the batches that it has sent. */
function createPair(options: ReporterOptions = {}) {
  const calls: Call[] = [];
  const reportTransitions = ({ body }: { body: unknown }) =>
    new Promise((resolve, reject) => {
      const { transitions } = JSON.parse(String(body)) as { transitions: Item[] };
      calls.push({
        items: transitions,
        answer: (results = accepted(transitions)) => {
          resolve({ results });
        },
        fail: reject,
      });
    });
  const client = { reportTransitions } as unknown as Pick<ExecutorClient, 'reportTransitions'>;
  const reporter = createReporter(client, { maxWaitMs: 1, ...options });
  const sent = async (count: number) => {
    while (calls.length < count) await new Promise(setImmediate);
    const call = calls[count - 1];
    if (!call) throw new Error('nothing was sent');
    return call;
  };
  return { ...reporter, calls, sent };
}

test('reports that come together are one batch, and each settles with its own item', async () => {
  const { report, sent, calls } = createPair();
  const outcomes = [report(start('a')), report(start('b')), report(start('c'))];
  const { items, answer } = await sent(1);
  answer([{ transitionId: 'trn_a' }, refused('task_not_found'), { transitionId: 'trn_c' }]);
  await expect(outcomes[1]).rejects.toMatchObject({ name: 'ProblemError', code: 'task_not_found', status: 409 });
  await expect(Promise.all([outcomes[0], outcomes[2]])).resolves.toEqual([
    { transitionId: 'trn_a' },
    { transitionId: 'trn_c' },
  ]);
  expect(items).toEqual([start('a'), start('b'), start('c')]);
  expect(calls).toHaveLength(1);
});

test('a full batch goes at once', async () => {
  const { report, sent } = createPair({ maxItems: 2, maxWaitMs: 60_000 });
  const outcomes = [report(start('a')), report(start('b'))];
  (await sent(1)).answer();
  await expect(Promise.all(outcomes)).resolves.toHaveLength(2);
});

test('a batch that ends sends nothing that has not waited its time', async () => {
  const { report, sent, calls } = createPair({ maxItems: 2, maxWaitMs: 500 });
  const overdue = report(start('a'));
  const first = await sent(1);
  const early = report(start('c'));
  first.answer();
  await overdue;
  await new Promise(setImmediate);
  expect(calls).toHaveLength(1);
  const last = report(start('d'));
  const { items, answer } = await sent(2);
  expect(items).toEqual([start('c'), start('d')]);
  answer();
  await Promise.all([early, last]);
});

test('a report says what its object said when it was given', async () => {
  const { report, sent } = createPair();
  const transition = { taskId: 'a', type: 'checkpoint', checkpointId: 'c1', canonical: true, material: false } as const;
  const mine = { ...transition };
  const outcome = report(mine);
  Object.assign(mine, { checkpointId: 'c2' });
  const { items, answer } = await sent(1);
  expect(items).toEqual([transition]);
  answer();
  await outcome;
});

test('a report that is no JSON is refused by itself', async () => {
  const { report, sent } = createPair();
  const result: unknown[] = [];
  result.push(result);
  await expect(report({ taskId: 'a', type: 'done', result } as never)).rejects.toBeInstanceOf(TypeError);
  const other = report(start('b'));
  (await sent(1)).answer();
  await other;
});

test('the next report of a Task waits for the batch with the one before, and other Tasks do not', async () => {
  const { report, sent, calls } = createPair({ maxItems: 2, maxBatches: 2 });
  const outcomes = ['a', 'a', 'a', 'b'].map((taskId) => report(start(taskId)));
  const [first, second] = [await sent(1), await sent(2)];
  expect([first.items, second.items]).toEqual([[start('a'), start('a')], [start('b')]]);
  second.answer();
  await outcomes[3];
  expect(calls).toHaveLength(2);
  first.answer();
  (await sent(3)).answer();
  await Promise.all(outcomes);
});

test('no more batches are under way than may be', async () => {
  const { report, sent } = createPair({ maxItems: 1, maxBatches: 2 });
  const outcomes = ['a', 'b', 'c'].map((taskId) => report(start(taskId)));
  (await sent(2)).answer();
  await outcomes[1];
  (await sent(3)).answer();
  (await sent(1)).answer();
  await expect(Promise.all(outcomes)).resolves.toHaveLength(3);
});

test('an item for which the service had no moment is reported again, before what follows of its Task', async () => {
  const { report, sent } = createPair({ maxItems: 3 });
  const outcomes = ['a', 'a', 'b', 'a'].map((taskId) => report(start(taskId)));
  (await sent(1)).answer([refused('unavailable'), refused('unavailable'), { transitionId: 'trn_b' }]);
  await expect(outcomes[2]).resolves.toEqual({ transitionId: 'trn_b' });
  const again = await sent(2);
  expect(again.items).toEqual([start('a'), start('a')]);
  again.answer();
  (await sent(3)).answer();
  await Promise.all(outcomes);
});

test('an item for which the service has no moment is refused in the end', async () => {
  const { report, sent } = createPair({ deadlineMs: 1 });
  const outcome = report(start('a'));
  (await sent(1)).answer([refused('unavailable')]);
  await expect(outcome).rejects.toMatchObject({ code: 'unavailable' });
});

test('when a batch fails, each of its reports rejects with that, and the next batch goes', async () => {
  const { report, sent } = createPair();
  const outcomes = [report(start('a')), report(start('b'))];
  (await sent(1)).fail(new ConnectionError('away'));
  for (const outcome of outcomes) await expect(outcome).rejects.toThrow('away');
  const next = report(start('a'));
  (await sent(2)).answer();
  await next;
});

test('an answer with too few results settles every report', async () => {
  const { report, sent } = createPair();
  const outcomes = [report(start('a')), report(start('b'))];
  (await sent(1)).answer([{ transitionId: 'trn_a' }]);
  await expect(outcomes[0]).resolves.toEqual({ transitionId: 'trn_a' });
  await expect(outcomes[1]).rejects.toThrow('too few results');
});

test('a full reporter takes no report, and is ready again when half of its places are free', async () => {
  const { report, ready, sent } = createPair({ maxHeld: 2 });
  await ready();
  const outcomes = [report(start('a')), report(start('b'))];
  await expect(report(start('c'))).rejects.toBeInstanceOf(ReporterFullError);
  let isReady = false;
  const waiting = ready().then(() => (isReady = true));
  const first = await sent(1);
  expect(isReady).toBe(false);
  first.answer();
  await Promise.all([...outcomes, waiting]);
  const last = report(start('c'));
  (await sent(2)).answer();
  await last;
});

test('closing sends what waits, waits for every outcome, and takes no more', async () => {
  const { report, close, sent } = createPair({ maxWaitMs: 60_000 });
  const outcome = report(start('a'));
  let isClosed = false;
  const closed = close().then(() => (isClosed = true));
  const again = close();
  const { answer } = await sent(1);
  expect(isClosed).toBe(false);
  await expect(report(start('b'))).rejects.toThrow('the reporter is closed');
  answer();
  await Promise.all([outcome, closed, again]);
  await close();
});
