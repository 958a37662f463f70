import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { patient, waitFor } from '@herald/test-kit';
import { closeHttpServer, createHttpServer, type HttpLimits } from './create-http-server.ts';

const QUICK: Partial<HttpLimits> = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 };

const answer: RequestListener = (req, res) => {
  req.resume().once('end', () => res.end('ok'));
};

async function listen(limits: Partial<HttpLimits> = {}, listener = answer): Promise<Server> {
  const server = createHttpServer(listener, limits).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Those of a test. Their own half of a connection ends only with them. */
let sockets: Socket[] = [];

async function open(server: Server, text = ''): Promise<Socket> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Everything until the server closes the connection. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk as string;
  return text;
}

function readProblem(text: string): unknown {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(/^content-type: application\/problem\+json/m);
  expect(head).toMatch(/^connection: close$/m);
  const problem = JSON.parse(body) as { requestId: string };
  expect(head).toContain(`x-request-id: ${problem.requestId}`);
  return { statusLine: head.split('\r\n')[0], ...problem };
}

let server: Server;
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await closeHttpServer(server, 0);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', 'HTTP/1.1 400 Bad Request', 'malformed_request'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01', 'HTTP/1.1 400 Bad Request', 'malformed_request'],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.1 400 Bad Request',
    'malformed_request',
  ],
  [
    'a length that is no number',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n',
    'HTTP/1.1 400 Bad Request',
    'malformed_request',
  ],
  [
    'a line break in a header',
    'GET / HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n',
    'HTTP/1.1 400 Bad Request',
    'malformed_request',
  ],
  [
    'endless headers',
    `GET / HTTP/1.1\r\nhost: a\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(17)}`,
    'HTTP/1.1 431 Request Header Fields Too Large',
    'headers_too_large',
  ],
  [
    'an endless path',
    `GET /${'y'.repeat(17_000)} HTTP/1.1\r\n`,
    'HTTP/1.1 431 Request Header Fields Too Large',
    'headers_too_large',
  ],
])('%s is answered with a problem, and the connection closed', async (_name, request, statusLine, code) => {
  server = await listen();
  expect(readProblem(await readAll(await open(server, request)))).toMatchObject({ statusLine, code });
  expect(await readAll(await open(server, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'))).toMatch(/\bok\b/);
});

test('nothing is left of the connection of a client that stays after it was refused', async () => {
  server = await listen();
  const socket = await open(server, 'hello\r\n\r\n');
  await readAll(socket);
  const countConnections = promisify(server.getConnections.bind(server));
  await waitFor('the connection to be gone', async () => (await countConnections()) === 0);
  expect(socket.writable).toBe(true);
});

test.each([
  ['never ends its headers', 'GET / HTTP/1.1\r\nhost: a\r\n'],
  ['never ends its body', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc'],
  ['never ends its chunks', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
])('a client that %s is told that its time is over', async (_name, request) => {
  server = await listen(QUICK);
  expect(readProblem(await readAll(await open(server, request)))).toMatchObject({
    statusLine: 'HTTP/1.1 408 Request Timeout',
    code: 'request_timeout',
  });
});

test('a client that says nothing is cut off without a word', async () => {
  server = await listen(QUICK);
  expect(await readAll(await open(server))).toBe('');
});

test('while very many run out of time together, requests are answered', async () => {
  server = await listen({ ...QUICK, headersTimeout: 500, requestTimeout: 500, connectionsCheckingInterval: 500 });
  const slow = await Promise.all(Array.from({ length: 300 }, () => open(server, 'GET / HTTP/1.1\r\n')));
  let over = 0;
  const ends = slow.map(async (socket) => {
    expect(readProblem(await readAll(socket))).toMatchObject({ code: 'request_timeout' });
    over++;
  });
  await Promise.race(ends);
  const text = await readAll(await open(server, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'));
  expect(text).toMatch(/\bok\b/);
  await Promise.all(ends);
  expect(over).toBe(300);
});

test('a client that sends a byte at a time is cut off all the same', async () => {
  server = await listen(QUICK);
  const socket = await open(server, 'GET / HTTP/1.1\r\nhost: a\r\nx: ');
  // After a look at what has arrived: a byte to an end that is closed would lose it.
  const sendMore = () => void (socket.bytesRead === 0 && socket.write('y'));
  const timer = setInterval(() => setImmediate(sendMore), 5);
  try {
    expect(readProblem(await readAll(socket))).toMatchObject({ code: 'request_timeout' });
  } finally {
    clearInterval(timer);
  }
});

test('an answer that has begun is broken off, never mixed with a problem', async () => {
  server = await listen(QUICK, (_req, res) => {
    res.writeHead(200, { 'content-length': 100 }).write('begun');
  });
  const text = await readAll(await open(server, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc'));
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).not.toContain('problem');
});

const LARGE = Buffer.alloc(32 * 1_048_576);
const GET = 'GET / HTTP/1.1\r\nhost: a\r\n';

test.each([
  ['says nothing more', ''],
  ['goes on sending a byte at a time', 'y'],
])('a client that reads nothing of its answer and %s is cut off', async (_name, more) => {
  server = await listen({ ...QUICK, unreadTimeout: 1_000 }, (_req, res) => res.end(LARGE));
  const socket = await open(server, `${GET}\r\n${more && GET}`);
  const timer = setInterval(() => more && socket.write(more), 5);
  const countConnections = promisify(server.getConnections.bind(server));
  try {
    expect(await waitFor('the connection to be gone', async () => (await countConnections()) === 0)).toBe(true);
  } finally {
    clearInterval(timer);
  }
});

test('a client that reads slowly gets all of its answer', async () => {
  const limitMs = patient(500);
  server = await listen({ unreadTimeout: limitMs }, (_req, res) => res.end(LARGE));
  const socket = await open(server, `${GET}connection: close\r\n\r\n`);
  const begunAt = performance.now();
  let bytes = 0;
  for await (const chunk of socket) {
    bytes += (chunk as Buffer).length;
    // It takes three times the limit for all.
    const dueAt = begunAt + (bytes / LARGE.length) * 3 * limitMs;
    if (performance.now() < dueAt) await pause(dueAt - performance.now());
  }
  expect(bytes).toBeGreaterThan(LARGE.length);
});

test('an answer that takes long to make is waited for', async () => {
  const { promise: isLate, resolve: late } = Promise.withResolvers<undefined>();
  server = await listen({ unreadTimeout: 10 }, (_req, res) => {
    res.once('timeout', late);
    void isLate.then(() => res.end('made'));
  });
  expect(await readAll(await open(server, `${GET}connection: close\r\n\r\n`))).toMatch(/made$/);
});

test('beyond its limit of connections new ones are closed, and those that are there go on', async () => {
  server = await listen({ maxConnections: 1 });
  const first = await open(server);
  expect(await readAll(await open(server))).toBe('');
  first.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  expect(await readAll(first)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('a client that is still sending does not keep the server from closing', async () => {
  server = await listen();
  const silent = await open(server);
  const sending = await open(server, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc');
  await closeHttpServer(server, 100);
  expect([await readAll(silent), await readAll(sending)]).toEqual(['', '']);
  expect(server.listening).toBe(false);
  server = await listen();
});

test('what is wrong behind a whole request is no answer to it, and the connection ends', async () => {
  const { promise: isMalformed, resolve: malformed } = Promise.withResolvers<undefined>();
  server = await listen({}, (_req, res) => {
    // Answers only once the server has met what follows.
    void isMalformed.then(() => res.end('made'));
  });
  server.on('clientError', () => setImmediate(malformed, undefined));
  const text = await readAll(await open(server, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}\0\r\n\r\n'));
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).toMatch(/made$/);
});

test('an expectation that nobody knows is passed over', async () => {
  server = await listen();
  const text = await readAll(
    await open(server, 'GET / HTTP/1.1\r\nhost: a\r\nexpect: tea\r\nconnection: close\r\n\r\n'),
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\bok\b/);
});

test.each([
  ['/tasks?x=/y\\z', '/tasks?x=/y\\z'],
  ['http://herald.example.com/tasks?x=1', '/tasks?x=1'],
  ['HTTPS://HERALD:8080/tasks', '/tasks'],
  ['http://herald.example.com', '/'],
  ['http://herald.example.com?x=1', '/?x=1'],
  // Whatever somebody on the way may read otherwise is nowhere.
  ['http:///tasks', '//'],
  ['http://', '//'],
  ['x://herald/tasks', '//'],
  ['/api\\public', '//'],
  ['/tasks#', '//'],
  ['*', '//'],
])('the target %j is the path %j', async (target, path) => {
  server = await listen({}, (req, res) => {
    res.end(req.url);
  });
  const request = Buffer.from(`OPTIONS ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`, 'latin1');
  const socket = await open(server);
  socket.write(request);
  expect((await readAll(socket)).split('\r\n\r\n')[1]).toContain(path);
});
