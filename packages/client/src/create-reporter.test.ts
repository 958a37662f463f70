import { createExecutorClient, type ExecutorClient } from './create-client.ts';
import { createPendingReports, createReporter, type ReporterOptions, type Transition } from './create-reporter.ts';
import { ConnectionError, DeadlineError, ReporterFullError } from './errors.ts';

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
  const outcomes = ['a', 'a', 'b'].map((taskId) => report(start(taskId)));
  const first = await sent(1);
  outcomes.push(report(start('a')));
  first.answer([refused('unavailable'), refused('unavailable'), { transitionId: 'trn_b' }]);
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

test('a full reporter takes no report, and is ready again when there is a place', async () => {
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

test('who awaits ready before each report is never refused, however many there are and whatever else is reported', async () => {
  const { report, ready, calls, close } = createPair({ maxHeld: 10, maxItems: 4 });
  let most = 0;
  let open = 0;
  const each = async (taskId: string) => {
    await ready();
    most = Math.max(most, ++open);
    await report(start(taskId));
    open--;
  };
  const all = Promise.all(Array.from({ length: 300 }, (_, index) => each(`t${index}`)));
  let answered = 0;
  const server = setInterval(() => {
    while (answered < calls.length) calls[answered++]?.answer();
  }, 1);
  await expect(all).resolves.toHaveLength(300);
  clearInterval(server);
  expect(most).toBeLessThanOrEqual(10);
  await close();
});

test('what it holds is bounded by bytes as well, and ready waits for those', async () => {
  const { report, ready, sent } = createPair({ maxHeldBytes: 200 });
  const large = (taskId: string) => report({ taskId, type: 'done', result: 'x'.repeat(200) });
  const first = large('a');
  await expect(large('b')).rejects.toThrow(/holds 1 reports \(\d{3} bytes\)/);
  let isReady = false;
  const waiting = ready().then(() => (isReady = true));
  const { answer } = await sent(1);
  expect(isReady).toBe(false);
  answer();
  await Promise.all([first, waiting]);
});

test('closing ends at its deadline, and says what is unreported, in its order', async () => {
  const { report, close, ready, sent } = createPair({ maxItems: 1, maxBatches: 1, maxHeld: 2 });
  const outcomes = [report(start('a')), report(start('b'))];
  const waiting = ready();
  await sent(1);
  const closed = close({ deadlineMs: 5 });
  await expect(waiting).rejects.toThrow('the reporter is closed');
  for (const outcome of outcomes) await expect(outcome).rejects.toBeInstanceOf(DeadlineError);
  await expect(closed).resolves.toEqual({ unreported: [start('a'), start('b')] });
  await expect(ready()).rejects.toThrow('the reporter is closed');
});

test('closing in time has nothing unreported', async () => {
  const { report, close, sent } = createPair();
  const outcome = report(start('a'));
  const closed = close({ deadlineMs: 10_000 });
  (await sent(1)).answer();
  await outcome;
  await expect(closed).resolves.toEqual({ unreported: [] });
});

test.each([{ maxItems: 0 }, { maxBytes: -1 }, { maxHeld: Number.NaN }, { maxBatches: 1.5 }, { deadlineMs: Infinity }])(
  '%j is refused',
  (options) => {
    expect(() => createPair(options)).toThrow(/must be/);
  },
);

test('with an API that comes and goes nothing is lost, and the reports of each Task arrive in their order', async () => {
  const [tasks, each] = [20, 100];
  const arrived = new Map<string, number[]>();
  let requests = 0;
  const fetch = (_url: string, { body }: RequestInit) => {
    requests++;
    if (requests % 5 === 1) return Promise.reject(new TypeError('connection refused'));
    if (requests % 5 === 2) return Promise.resolve(new Response('<p>Bad Gateway', { status: 502 }));
    const { transitions } = JSON.parse(body as string) as { transitions: { taskId: string; checkpointId: string }[] };
    for (const { taskId, checkpointId } of transitions) {
      const facts = arrived.get(taskId) ?? [];
      arrived.set(taskId, facts);
      if (!facts.includes(Number(checkpointId))) facts.push(Number(checkpointId)); // it counts once
    }
    // The answer is lost, though everything was accepted.
    if (requests % 5 === 3) return Promise.reject(new TypeError('other side closed'));
    return Promise.resolve(Response.json({ results: transitions.map(() => ({ duplicate: false })) }));
  };
  const client = createExecutorClient({ baseUrl: 'https://herald.test', key: 'hrld_1', fetch });
  const reporter = createReporter(client, { maxHeld: 1_000, maxWaitMs: 1 });
  let [held, most] = [0, 0];
  const outcomes: Promise<unknown>[] = [];
  for (let index = 0; index < tasks * each; index++) {
    await reporter.ready();
    most = Math.max(most, ++held);
    const fact = { taskId: `t${index % tasks}`, type: 'checkpoint', checkpointId: String(Math.floor(index / tasks)) };
    outcomes.push(reporter.report({ ...fact, canonical: true, material: false } as Transition).then(() => held--));
  }
  await expect(Promise.all(outcomes)).resolves.toHaveLength(tasks * each);
  expect(await reporter.close({ deadlineMs: 1_000 })).toEqual({ unreported: [] });
  const inOrder = Array.from({ length: each }, (_, index) => index);
  expect([...arrived.values()]).toEqual(Array(tasks).fill(inOrder));
  expect(most).toBeLessThanOrEqual(1_000);
});

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
