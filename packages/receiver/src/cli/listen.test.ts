import { checkSecrets } from '../signatures.ts';
import { secretOf } from './arguments.ts';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, createRetryDelay, type Ending, readStream, type StreamEvent } from './listen.ts';

test('it waits half a second, then twice as long each time up to half a minute, and anew after a connection', () => {
  const delay = createRetryDelay(() => 0.5);
  const waits = Array.from({ length: 9 }, () => delay.next());
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  delay.reset();
  expect(delay.next()).toBe(500);
  expect([createRetryDelay(() => 0).next(), createRetryDelay(() => 1).next()]).toEqual([400, 600]);
});

/** How a connection to such a server ends, and the events that it brought. */
async function connectTo(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const api = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  const got: unknown[] = [];
  try {
    const ending = await connect({ api, key: 'hrld_x', events: ['task.done', 'task.canceled'] }, (event) => {
      got.push(event);
    });
    return { ending, got, api };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const answer =
  (status: number, type: string, body: string): RequestListener =>
  (_req, res) =>
    res.writeHead(status, { 'content-type': type }).end(body);
const problem = (status: number, code: string) =>
  answer(status, 'application/problem+json', JSON.stringify({ code, detail: `about ${code}` }));

test.each<[string, RequestListener, Ending]>([
  ['a wrong key', problem(401, 'unauthenticated'), { kind: 'refused', why: 'about unauthenticated' }],
  ['a lacking scope', problem(403, 'insufficient_scope'), { kind: 'refused', why: 'about insufficient_scope' }],
  ['the sixth', problem(409, 'listener_limit_reached'), { kind: 'full', why: 'about listener_limit_reached' }],
  ['too many requests', problem(429, 'rate_limited'), { kind: 'lost', why: 'about rate_limited' }],
  [
    'a proxy without its API',
    answer(502, 'text/html', 'x'),
    { kind: 'lost', why: expect.stringMatching(/answered 502$/) as string },
  ],
  [
    'a former release',
    problem(404, 'route_not_found'),
    { kind: 'refused', why: expect.stringContaining('needs a newer release') as string },
  ],
  [
    'any other server',
    answer(200, 'text/html', '<p>'),
    { kind: 'refused', why: expect.stringContaining('is no Herald') as string },
  ],
  ['a connection that breaks', (req) => req.socket.destroy(), { kind: 'lost', why: 'other side closed' }],
])('%s ends as what it is', async (_what, listener, expected) => {
  const { ending, got } = await connectTo(listener);
  expect({ ending, got }).toEqual({ ending: expected, got: [] });
});

test('it asks below the path of the API for these events, with its key, and tells why Herald ended the stream', async () => {
  let asked: unknown;
  const { ending, got } = await connectTo((req, res) => {
    asked = { url: req.url, authorization: req.headers.authorization };
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    res.end(
      'event: listening\ndata: {}\n\n: still here\n\nevent: end\ndata: {"reason":"stopping","detail":"it stops"}\n\n',
    );
  });
  expect(asked).toEqual({
    url: '/base/api/public/listen?events=task.done%2Ctask.canceled',
    authorization: 'Bearer hrld_x',
  });
  expect({ ending, got }).toEqual({
    ending: { kind: 'lost', why: 'it stops' },
    got: [{ event: 'listening', data: '{}' }],
  });
});

async function readAll(...chunks: Uint8Array[]): Promise<StreamEvent[]> {
  const read: StreamEvent[] = [];
  // oxlint-disable-next-line typescript/require-await -- a stream is asynchronous
  async function* arrive() {
    yield* chunks;
  }
  for await (const event of readStream(arrive())) read.push(event);
  return read;
}

const TEXT =
  'id: dlv_1\nevent: task.done\ndata: {"text":"Grüße: 🚀"}\n\n: still here\n\nevent: end\ndata: {}\n\nevent: cut';
const EVENTS = [{ id: 'dlv_1', event: 'task.done', data: '{"text":"Grüße: 🚀"}' }, {}, { event: 'end', data: '{}' }];

test('events and comments are read however the network cuts them, and one that is cut short is left out', async () => {
  const bytes = Buffer.from(TEXT);
  expect(await readAll(bytes)).toEqual(EVENTS);
  for (let at = 1; at < bytes.length; at++) {
    expect(await readAll(bytes.subarray(0, at), bytes.subarray(at))).toEqual(EVENTS);
  }
  expect(await readAll(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
});

test('a key signs with the same secret at every start, and with another one at another service', () => {
  const secret = secretOf('hrld_a', 'https://herald.example.com');
  expect(checkSecrets([secret])).toEqual([secret]);
  expect(secretOf('hrld_a', 'https://herald.example.com')).toBe(secret);
  expect(secretOf('hrld_a', 'https://other.example.com')).not.toBe(secret);
  expect(secretOf('hrld_b', 'https://herald.example.com')).not.toBe(secret);
});
