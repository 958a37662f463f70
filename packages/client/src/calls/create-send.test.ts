import { createSend, type SendPlan } from './create-send.ts';
import { ConnectionError } from '../errors/connection-error.ts';
import { DeadlineError } from '../errors/deadline-error.ts';
import { ProblemError } from '../errors/problem-error.ts';

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
  const request = () =>
    new Request('https://herald.test/x', { method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer k' } });
  return {
    seen,
    waits,
    tick: (ms: number) => (now += ms),
    send: (plan: Partial<SendPlan>) => send(request(), { ...SAFE, deadlineMs: 10_000, ...plan }),
  };
}

test('a safe call is repeated with the same body and key, at growing distances, until it is answered', async () => {
  const server = createServer(breaks, problem(503, 'unavailable', '2'), problem(429, 'rate_limited', '1'), ok);
  const answer = await server.send({});
  expect(await answer.json()).toEqual({ fine: true });
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
  const answer = await send(new Request('https://herald.test/x'), { ...SAFE, deadlineMs: 1_000 });
  expect([answer.status, tries]).toEqual([200, 2]);
});
