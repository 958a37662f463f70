import { ConnectionError, DeadlineError, ProblemError } from './errors.ts';
import {
  createSend,
  judgeRepeat,
  readProblem,
  readRetryAfter,
  repeatDelay,
  wait,
  type Outgoing,
  type SendPlan,
} from './send.ts';

type Answer = () => Response | Promise<Response>;

const problem =
  (status: number, code: string, retryAfter?: string): Answer =>
  () =>
    Response.json(
      { status, code, detail: code },
      { status, ...(retryAfter && { headers: { 'retry-after': retryAfter } }) },
    );
const ok: Answer = () => Response.json({ fine: true });
const breaks: Answer = () => Promise.reject(new TypeError('fetch failed'));
const REQUEST: Outgoing = {
  method: 'POST',
  url: 'https://herald.test/x',
  headers: {},
  body: '{"a":1}',
  findKey: () => 'k',
};
const SAFE = { isSafe: true, hasIdempotencyKey: false };
const UNSAFE = { isSafe: false, hasIdempotencyKey: false };

/** A server with these answers, and a clock that only waiting moves. The last answer stays. */
function createServer(...answers: readonly Answer[]) {
  const seen: { body: unknown; authorization: string | null }[] = [];
  const waits: number[] = [];
  let now = 0;
  const send = createSend({
    async fetch(_url, init) {
      seen.push({ body: init.body, authorization: new Headers(init.headers).get('authorization') });
      const answer = answers[Math.min(seen.length, answers.length) - 1];
      if (!answer) throw new Error('no answer was given');
      return await answer();
    },
    wait(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
      now += ms;
      return Promise.resolve();
    },
    now: () => now,
    random: () => 1,
    tryTimeoutMs: 30_000,
  });
  return {
    seen,
    waits,
    tick: (ms: number) => (now += ms),
    send: (plan: Partial<SendPlan>) => send(REQUEST, { ...SAFE, deadlineMs: 10_000, ...plan }),
  };
}

test('a safe call is repeated with the same body and key, at growing distances, until it is answered', async () => {
  const server = createServer(breaks, problem(503, 'unavailable', '2'), problem(429, 'rate_limited', '1'), ok);
  const answer = await server.send({});
  expect(JSON.parse(answer.text)).toEqual({ fine: true });
  expect(server.waits).toEqual([100, 2_200, 1_400]);
  expect(server.seen).toEqual(Array(4).fill({ body: '{"a":1}', authorization: 'Bearer k' }));
});

test('another call is repeated after 429 alone', async () => {
  const server = createServer(problem(429, 'rate_limited', '1'), problem(503, 'unavailable'));
  await expect(server.send(UNSAFE)).rejects.toMatchObject({ code: 'unavailable' });
  expect(server.seen).toHaveLength(2);
  const away = createServer(breaks);
  await expect(away.send(UNSAFE)).rejects.toBeInstanceOf(ConnectionError);
  expect(away.seen).toHaveLength(1);
});

test('an answer whose body breaks off is a broken connection', async () => {
  const cutOff: Answer = () =>
    new Response(
      new ReadableStream({
        start: (stream) => {
          stream.error(new TypeError('terminated'));
        },
      }),
    );
  const server = createServer(cutOff, ok);
  expect((await server.send({})).status).toBe(200);
  await expect(createServer(cutOff).send(UNSAFE)).rejects.toMatchObject({ cause: new TypeError('terminated') });
});

test('a repeat that would come after the deadline is not awaited: the call rejects with the last fault', async () => {
  const server = createServer(problem(503, 'unavailable', '4'));
  await expect(server.send({})).rejects.toMatchObject({ name: 'ProblemError', retryAfterMs: 4_000 });
  expect(server.waits).toEqual([4_100, 4_200]);
  await expect(createServer(breaks).send({ deadlineMs: 50 })).rejects.toBeInstanceOf(ConnectionError);
});

test('a try that lasts until the deadline ends the call', async () => {
  const server = createServer(() => {
    server.tick(10_000);
    return Promise.reject(new Error('aborted'));
  });
  const failed = server.send({});
  await expect(failed).rejects.toBeInstanceOf(DeadlineError);
  await expect(failed).rejects.toMatchObject({ cause: expect.any(ConnectionError) as unknown });
});

test('a problem that will not pass is thrown at once', async () => {
  const server = createServer(problem(422, 'validation_failed'));
  await expect(server.send({})).rejects.toBeInstanceOf(ProblemError);
  expect(server.seen).toHaveLength(1);
});

test('an aborted call rejects with the reason of its signal, before a try and while it waits to repeat', async () => {
  const controller = new AbortController();
  const reason = new Error('no longer needed');
  const server = createServer(() => {
    controller.abort(reason);
    return breaks();
  });
  await expect(server.send({ signal: controller.signal })).rejects.toBe(reason);
  await expect(server.send({ signal: controller.signal })).rejects.toBe(reason);
  expect(server.seen).toHaveLength(1);
});

test('a try that gets no answer is cut off, and repeated', async () => {
  let tries = 0;
  const send = createSend({
    fetch: (_url, { signal }) =>
      ++tries === 2
        ? Promise.resolve(Response.json({}))
        : new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          }),
    wait: () => Promise.resolve(),
    now: () => 0,
    random: () => 0,
    tryTimeoutMs: 1,
  });
  const answer = await send(REQUEST, { ...SAFE, deadlineMs: 1_000 });
  expect([answer.status, tries]).toEqual([200, 2]);
});

const problemOf = (status: number, code = 'unknown') => new ProblemError({ status, code, detail: '' });
const broken = new ConnectionError('');
const once = { isSafe: true, hasIdempotencyKey: true };
const facts = { isSafe: true, hasIdempotencyKey: false };
const perhapsTwice = { isSafe: false, hasIdempotencyKey: false };

test.each([
  { when: 'a broken connection, of a safe call', fault: broken, call: facts, repeats: true },
  { when: 'a broken connection, of another call', fault: broken, call: perhapsTwice, repeats: false },
  { when: 'a 503 of a safe call', fault: problemOf(503, 'unavailable'), call: once, repeats: true },
  { when: 'a 503 of another call', fault: problemOf(503, 'unavailable'), call: perhapsTwice, repeats: false },
  { when: 'a 502 of a proxy', fault: problemOf(502), call: facts, repeats: true },
  { when: 'a 504 of a proxy', fault: problemOf(504), call: facts, repeats: true },
  { when: 'a 429 of any call', fault: problemOf(429, 'rate_limited'), call: perhapsTwice, repeats: true },
  { when: 'a first try in work', fault: problemOf(409, 'request_in_progress'), call: once, repeats: true },
  { when: 'one of no key', fault: problemOf(409, 'request_in_progress'), call: facts, repeats: false },
  { when: 'another 409', fault: problemOf(409, 'task_closed'), call: once, repeats: false },
  { when: 'a 500', fault: problemOf(500, 'internal'), call: once, repeats: false },
  { when: 'a 401', fault: problemOf(401, 'unauthenticated'), call: once, repeats: false },
  { when: 'a 422', fault: problemOf(422, 'validation_failed'), call: once, repeats: false },
])('after $when, it is $repeats that the call is repeated', ({ fault, call, repeats }) => {
  expect(judgeRepeat(fault, call)).toBe(repeats);
});

test('the delay doubles up to five seconds, half of it by chance', () => {
  const delays = (random: number) => [1, 2, 3, 6, 7, 20].map((repeat) => repeatDelay(repeat, undefined, () => random));
  expect(delays(1)).toEqual([100, 200, 400, 3_200, 5_000, 5_000]);
  expect(delays(0)).toEqual([50, 100, 200, 1_600, 2_500, 2_500]);
});

test('no repeat comes before the time that the service asks for', () => {
  expect(repeatDelay(1, 2_000, () => 0)).toBe(2_050);
});

const NOW = Date.parse('2030-01-01T00:00:00Z');
const read = (text: string, headers: Record<string, string> = {}, status = 422) =>
  readProblem({ status, headers: new Headers(headers), text }, NOW);

test('a problem of Herald keeps its code, its fields and its request id', () => {
  const errors = [{ path: 'url', message: 'url is required' }];
  const fields = { status: 422, code: 'validation_failed', requestId: 'req_1', errors };
  const error = read(JSON.stringify({ ...fields, detail: 'url is required' }), { 'retry-after': '2' });
  expect(error).toMatchObject({ ...fields, retryAfterMs: 2_000 });
  expect(error.message).toBe('url is required');
});

test.each([
  ['the page of a proxy', '<html>Bad Gateway</html>'],
  ['nothing', ''],
  ['a text in quotes', '"no"'],
])('%s is a problem with an unknown code, and has the request id of the header', (_what, text) => {
  const error = read(text, { 'x-request-id': 'req_2' }, 502);
  expect(error).toMatchObject({ status: 502, code: 'unknown', requestId: 'req_2', errors: [] });
  expect(error.message).toContain('502');
  expect(error.retryAfterMs).toBeUndefined();
});

test.each([
  [null, undefined],
  ['0', 0],
  ['120', 120_000],
  ['Tue, 01 Jan 2030 00:00:05 GMT', 5_000],
  ['Mon, 31 Dec 2029 00:00:00 GMT', 0],
  ['soon', undefined],
])('Retry-After %p is %p ms', (value, ms) => {
  expect(readRetryAfter(value, NOW)).toBe(ms);
});

test('a wait ends by itself, and at once when its signal is aborted', async () => {
  const controller = new AbortController();
  await wait(1, controller.signal);
  const waiting = wait(60_000, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(wait(60_000, controller.signal)).rejects.toThrow('enough');
});
