import { connect } from 'node:net';
import { waitFor } from '@herald/test-kit';
import { bodyOf } from '../../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { problemOf } from '../../support/problems.ts';
import { startRedisGate } from '../../support/redis-gate.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { listKeys } from '../../support/start-topology.ts';

const RECEIVERS = '/api/public/webhooks';
const LIMIT = 5;

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 0, env: { RATE_LIMIT: String(LIMIT) } });
});
afterAll(() => herald[Symbol.asyncDispose]());

/** So many requests at once, in turn to both API processes. */
const burst = (count: number, key: string, path = RECEIVERS) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => {
      const via = herald.apis[index % 2];
      return herald.request('GET', path, { key, ...(via && { via }) });
    }),
  );
const countOf = (answers: readonly { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

test('one workspace gets its limit in a second from all API processes together, and another one its own', async () => {
  const [one, two] = [await herald.createKey('ws_rate', ['webhooks']), await herald.createKey('ws_calm', ['webhooks'])];
  const startedAt = performance.now();
  const [ofOne, ofTwo] = await Promise.all([burst(60, one), burst(LIMIT, two)]);
  // The burst may fall into more than one second; each lets through the limit at most.
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
  expect(countOf(ofOne, 200)).toBeGreaterThanOrEqual(LIMIT);
  expect(countOf(ofOne, 200)).toBeLessThanOrEqual(LIMIT * seconds);
  expect(countOf(ofOne, 200) + countOf(ofOne, 429)).toBe(60);
  expect(countOf(ofOne, 429)).toBeGreaterThan(0);
  expect(countOf(ofTwo, 200)).toBe(LIMIT);
});

test('twenty links of a key make no more requests than the key alone, and nobody else has fewer', async () => {
  const [key, calm] = [
    await herald.createKey('ws_links', ['webhooks']),
    await herald.createKey('ws_near', ['webhooks']),
  ];
  const unlimited = await herald.startApi({ RATE_LIMIT: '0' });
  const link = async () => {
    const made = await herald.request('POST', '/api/public/portal-links', { key, body: {}, via: unlimited });
    return (bodyOf(made, 201) as { token: string }).token;
  };
  const links = await Promise.all(Array.from({ length: 20 }, link));
  await unlimited.stop();
  const startedAt = performance.now();
  const [ofLinks, ofCalm] = await Promise.all([
    Promise.all([key, ...links].map((each) => burst(10, each, '/api/public/activity'))),
    burst(LIMIT, calm),
  ]);
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
  expect(countOf(ofLinks.flat(), 200)).toBeGreaterThanOrEqual(LIMIT);
  expect(countOf(ofLinks.flat(), 200)).toBeLessThanOrEqual(LIMIT * seconds);
  expect(countOf(ofLinks.flat(), 200) + countOf(ofLinks.flat(), 429)).toBe(210);
  expect(countOf(ofCalm, 200)).toBe(LIMIT);
});

test("a tenant that uses up its limit takes nothing from an operator's link to it", async () => {
  const { id, key } = await herald.createWorkspace();
  const unlimited = await herald.startApi({ RATE_LIMIT: '0', ...OPERATOR_ENV });
  const body = { url: 'https://a.example.com/' };
  expect((await herald.request('POST', RECEIVERS, { key, body, via: unlimited })).status).toBe(201);
  const { OPERATOR_USER: user, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
  const headers = { ...basic(user, password), 'sec-fetch-site': 'same-origin' };
  const path = `/api/operator/workspaces/${id}/portal-links`;
  const made = await herald.request('POST', path, { headers, via: unlimited });
  const { token } = bodyOf(made, 201) as { token: string };
  const [ofTenant, ofOperator] = await Promise.all([burst(60, key), burst(LIMIT, token)]);
  await unlimited.stop();
  expect(countOf(ofTenant, 429)).toBeGreaterThan(0);
  expect(countOf(ofOperator, 200)).toBe(LIMIT);
});

test('a caller that hangs up before it is answered is counted all the same', async () => {
  const key = await herald.createKey('ws_gone', ['webhooks']);
  const via = herald.apis[0];
  if (!via) throw new Error('there is an API');
  const send = () => herald.request('GET', RECEIVERS, { key, via, deadlineMs: 500 });
  expect((await send()).status).toBe(200); // so that every script is known
  // Not a client's: what its connection says first may come among what is watched.
  const monitor = connect(herald.server.port, '127.0.0.1').setEncoding('utf8');
  let watched = '';
  monitor.on('data', (text: string) => (watched += text));
  monitor.write('MONITOR\r\n');
  await waitFor('Redis to tell what it does', () => watched.startsWith('+OK'));
  process.kill(herald.server.pid, 'SIGSTOP');
  const hungUp = await Promise.allSettled(Array.from({ length: 3 * LIMIT }, send));
  process.kill(herald.server.pid, 'SIGCONT');
  expect(hungUp.map(({ status }) => status)).toEqual(Array(3 * LIMIT).fill('rejected'));
  const counted = () => watched.match(/^.*"evalsha" .*herald:rate:\S*ws_gone.*\r$/gm)?.length;
  await waitFor('all of them to be counted', () => counted() === 3 * LIMIT);
  monitor.destroy();
});

test('the headers say what is left, and a refusal says what to do', async () => {
  const key = await herald.createKey('ws_headers', ['webhooks']);
  const answers = await burst(30, key);
  const [allowed, refused] = [200, 429].map((status) => answers.find((answer) => answer.status === status));
  expect(allowed?.headers).toMatchObject({
    ratelimit: expect.stringMatching(/^"api-key"; r=\d; t=[01]$/) as string,
    'ratelimit-policy': expect.stringMatching(/^"api-key"; q=5; w=1; pk=:[A-Za-z0-9+/=]+:$/) as string,
  });
  expect(refused?.headers).toMatchObject({ 'retry-after': '1', ratelimit: expect.stringContaining('r=0') as string });
  expect(refused && problemOf(refused)).toMatchObject({
    status: 429,
    code: 'rate_limited',
    detail: expect.stringMatching(/5 requests per second; wait a second/) as string,
  });
});

test('the second passes by itself: what is counted leaves Redis', async () => {
  const key = await herald.createKey('ws_leaves', ['webhooks']);
  await burst(30, key);
  for (const counter of await listKeys(herald.redis, 'herald:rate:*')) {
    expect(await herald.redis.pttl(counter)).toBeLessThanOrEqual(1_000);
    // Gone meanwhile, or about to go: never without an end.
    expect(await herald.redis.pttl(counter)).not.toBe(-1);
  }
});

test('executors have no limit', async () => {
  const answers = await burst(60, herald.executor.key, '/api/internal/tasks?status=queued');
  expect(countOf(answers, 200)).toBe(60);
  expect(Object.keys(answers[0]?.headers ?? {}).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});

test('a Redis that has forgotten the scripts gets them again, also in the middle of a burst', async () => {
  const key = await herald.createKey('ws_flushed', ['webhooks']);
  await herald.redis.script('FLUSH');
  const [answers] = await Promise.all([burst(40, key), herald.redis.script('FLUSH')]);
  expect(countOf(answers, 200) + countOf(answers, 429)).toBe(40);
  expect(countOf(answers, 429)).toBeGreaterThan(0);
});

test('after a restart of Redis requests are counted as before', async () => {
  await using other = await startHerald({
    workers: 0,
    env: { RATE_LIMIT: '5' },
    // Otherwise the kill may lose the key that was made just before.
    redis: { appendonly: true, args: ['--appendfsync', 'always'] },
  });
  const { key } = await other.createWorkspace();
  await other.server.kill();
  const during = await other.request('GET', RECEIVERS, { key });
  expect(problemOf(during)).toMatchObject({ status: 503, code: 'unavailable' });
  await other.server.restart();
  const send = () => Promise.all(Array.from({ length: 30 }, () => other.request('GET', RECEIVERS, { key })));
  const answers = await waitFor('the API to have Redis back', send, { until: (seen) => countOf(seen, 503) === 0 });
  expect(countOf(answers, 200) + countOf(answers, 429)).toBe(30);
  expect(countOf(answers, 429)).toBeGreaterThan(0);
});

test('when the count can not be had the request is refused as unavailable, not let through', async () => {
  await using gate = await startRedisGate({ port: herald.server.port, stopAt: 'herald:rate:' });
  const via = await herald.startApi({ REDIS_URL: gate.url });
  const { key } = await herald.createWorkspace();
  const answer = await herald.request('GET', RECEIVERS, { key, via });
  expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
  expect(answer.headers['retry-after']).toBeDefined();
  await via.stop();
});
