import { createExpressHandler, createMemoryStore } from '@herald/receiver';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { freePort, startProcess, waitFor, type RunningProcess } from '@herald/test-kit';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { scrape } from '../../support/metrics.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { checkpoint, DONE, START } from '../../support/reports.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { HeraldProcess } from '../../support/start-herald-process.ts';

jest.setTimeout(120_000);

const COMMAND = fileURLToPath(new URL('../../../packages/receiver/bin/herald-receiver.js', import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

interface Arrival {
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
  at: number;
}
interface Got extends Arrival {
  event: string;
  id: string;
}

/** A customer's program on this machine, which verifies with the kit. */
async function startProgram() {
  const got: Got[] = [];
  const refused: number[] = [];
  const arrivals = new Map<string, Arrival>();
  const handler = createExpressHandler({
    secrets: SECRET,
    store: createMemoryStore(),
    handle: (event, { id }) => {
      const arrival = arrivals.get(id);
      if (arrival) got.push({ event: event.event, id, ...arrival });
    },
  });
  const receive = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const at = performance.now();
    const rawBody = await buffer(req);
    arrivals.set(String(req.headers['webhook-id']), { headers: req.headers, rawBody, at });
    await handler(Object.assign(req, { rawBody }), res);
  };
  const server = createServer((req, res) => {
    res.once('finish', () => {
      if (res.statusCode !== 200) refused.push(res.statusCode);
    });
    void receive(req, res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    got,
    refused,
    next: async (count: number) => (await waitFor(`${count} events`, () => got.length >= count && got))[count - 1],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
type Program = Awaited<ReturnType<typeof startProgram>>;

const run = (args: readonly string[], env: Record<string, string> = {}, readyWhen?: string): Promise<RunningProcess> =>
  startProcess({
    name: 'herald-receiver',
    command: process.execPath,
    args: [COMMAND, ...args],
    env,
    ...(readyWhen !== undefined && { readyWhen: (line: string) => line.includes(readyWhen) }),
  });

let herald: Herald;
let program: Program;
let apis: readonly [listening: HeraldProcess, accepting: HeraldProcess];
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 1, env: OPERATOR_ENV });
  const [listening, accepting] = herald.apis;
  if (!listening || !accepting) throw new Error('there are two');
  apis = [listening, accepting];
  program = await startProgram();
});
afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await herald[Symbol.asyncDispose]();
});

const listenArgs = (more: readonly string[] = []) => [
  'listen',
  '--forward-to',
  program.url,
  '--secret',
  SECRET,
  ...more,
];
const listen = (key: string, more: readonly string[] = [], api = apis[0].origin) =>
  run(listenArgs(more), { HERALD_URL: api, HERALD_KEY: key }, 'Listening at');

test('an event is at a local program at once, signed and with the bytes of its deliveries, and only those asked for', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const { id: taskId } = await workspace.createTask();
  const report = (...reports: object[]) =>
    herald.request('POST', '/api/internal/transitions', {
      key: herald.executor.key,
      via: apis[1],
      body: { transitions: reports.map((each) => ({ taskId, ...each })) },
    });
  await report(START, checkpoint('before')); // this process knows the subscriptions as they were
  await using running = await listen(workspace.key, ['--events', 'task.check_in,task.canceled']);

  const before = program.got.length;
  const latencies: number[] = [];
  for (let count = 1; count <= 20; count++) {
    const startedAt = performance.now();
    await report(checkpoint(`c${count}`));
    latencies.push(((await program.next(before + count))?.at ?? Infinity) - startedAt);
  }
  await report(DONE);
  await herald.settled();
  process.stderr.write(`listen: ${latencies.map(Math.round).join(' ')} ms from report to program\n`);
  // The median: a machine that does other things too delays some.
  expect(latencies.toSorted((a, b) => a - b)[10]).toBeLessThan(200);

  const own = program.got.slice(before);
  expect(own.map(({ event }) => event)).toEqual(Array(20).fill('task.check_in'));
  expect(program.refused).toEqual([]);
  expect(new Set(own.map(({ id }) => id)).size).toBe(20);
  const bodies = new Set(receiver.requests.map(({ rawBody }) => rawBody.toString()));
  expect(own.filter(({ rawBody }) => !bodies.has(rawBody.toString()))).toEqual([]);
  // The very same headers as those of a delivery, apart from what names the host and the connection.
  const ofDelivery = Object.keys((await receiver.next()).headers).filter((name) => !/^(host|connection)$/.test(name));
  expect(Object.keys(own[0]?.headers ?? {})).toEqual(expect.arrayContaining(ofDelivery));
  expect(own[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-service-event': 'task.check_in' });
  expect(own[0]?.headers['user-agent']).toMatch(/^Herald\/\d/);
  await waitFor('its lines', () => running.output().split('→ 200 OK').length === 21);
  expect(running.output()).not.toContain('task.done');
});

test('a killed API is found again by itself, and a stopped one says that it stops', async () => {
  const workspace = await herald.createWorkspace();
  const env = { PORT: String(await freePort()) };
  const first = await herald.startApi(env);
  await using running = await listen(workspace.key, [], first.origin);
  await first.kill();
  await waitFor('it to say so', () => running.output().includes('Not connected:'));
  const second = await herald.startApi(env);
  await waitFor('it to be back', () => running.output().includes('Connected again.'), 30_000);
  const before = program.got.length;
  await workspace.closeTask((await workspace.createTask()).id);
  expect(await program.next(before + 1)).toMatchObject({ event: 'task.done' });
  expect(await second.stop()).toEqual({ code: 0, signal: null });
  await waitFor('its reason', () => running.output().includes('this process is stopping'));
});

test.each([
  ['a key that nobody knows', () => Promise.resolve('hrld_unknown'), 'this API key is unknown, expired or revoked'],
  ['a key without the scope', () => herald.createKey('ws_x', ['tasks']), 'this API key lacks the scope webhooks'],
])('%s is refused with what to change, and ends the command', async (_what, key, sentence) => {
  await using running = await run(listenArgs(['--api', apis[0].origin, '--key', await key()]));
  expect(await running.exited).toEqual({ code: 1, signal: null });
  expect(running.output()).toContain(`Herald refused: ${sentence}`);
});

test('the sixth listener of a workspace is refused on every API, and a revoked key ends those that listen', async () => {
  const workspace = await herald.createWorkspace();
  const open = async (api: HeraldProcess) => {
    const headers = { authorization: `Bearer ${workspace.key}` };
    const answer = await fetch(`${api.origin}/api/public/listen`, { headers });
    expect(answer.status).toBe(200);
    return answer;
  };
  const streams = await Promise.all([0, 1, 0, 1, 0].map((index) => open(apis[index === 0 ? 0 : 1])));
  await using running = await run(listenArgs(), { HERALD_URL: apis[1].origin, HERALD_KEY: workspace.key });
  expect(await running.exited).toEqual({ code: 1, signal: null });
  expect(running.output()).toContain('5 listeners are connected to this workspace already');
  expect((await workspace.request('HEAD', '/api/public/listen')).status).toBe(200);

  const wrong = await workspace.request('GET', '/api/public/listen?events=task.done,webhook.test');
  expect(wrong).toMatchObject({ status: 422, body: { errors: [{ path: 'events.1' }] } });
  const keys = createApiKeyStore({ redis: herald.redis, now: Date.now });
  await keys.revoke((await keys.find(workspace.key))?.id ?? '');
  const ends = await Promise.all(streams.map((stream) => stream.text()));
  expect(ends.map((text) => text.includes('"reason":"key_ended"'))).toEqual(Array(5).fill(true));
  const metrics = await scrape(apis[0].origin, basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD));
  expect(metrics.sum('herald_http_requests_total', { route: '/api/public/listen', status: '200' })).toBeGreaterThan(2);
  // They were open for seconds, which is no time of an answer.
  expect(metrics.sum('herald_http_request_duration_seconds_sum', { route: '/api/public/listen' })).toBeLessThan(5);
});

test('trigger sends a sample that the program verifies, and says when nobody answers', async () => {
  const before = program.got.length;
  await using sent = await run(['trigger', 'task.requires_action', '--forward-to', program.url, '--secret', SECRET]);
  expect(await sent.exited).toEqual({ code: 0, signal: null });
  expect(await program.next(before + 1)).toMatchObject({
    event: 'task.requires_action',
    headers: { 'x-service-sample': 'true' },
  });
  const nobody = `http://127.0.0.1:${await freePort()}/`;
  await using failed = await run(['trigger', 'task.done', '--forward-to', nobody], { HERALD_SECRETS: SECRET });
  expect(await failed.exited).toEqual({ code: 1, signal: null });
  expect(failed.output()).toContain('no answer: connection refused');
});
