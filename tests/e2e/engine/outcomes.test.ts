import { createCertificateAuthority, freePort, startReceiver, waitFor } from '@herald/test-kit';
import type { TLSSocket } from 'node:tls';
import { createDeliveryClient, type DeliveryView } from '../../support/delivery-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { deliverToPlanted } from '../../support/plant-callback.ts';
import { startNameServer, type NameServer } from '../../support/start-name-server.ts';
import { startRawServer } from '../../support/start-raw-server.ts';

jest.setTimeout(60_000);

const DEADLINE_MS = 3_000;
const KIB = 1_024;
const MIB = 1_024 * KIB;

let names: NameServer;
let herald: Herald;
beforeAll(async () => {
  names = await startNameServer();
  herald = await startHerald({
    env: { RETRY_SCHEDULE: '', DELIVERY_TIMEOUT: `${DEADLINE_MS}ms`, EGRESS_DNS_SERVERS: names.address },
  });
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

/** What one delivery to this url comes to. */
async function deliverTo(url: string): Promise<DeliveryView> {
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const emitted = await deliveries.emit({ callback: { url } });
  return await deliveries.waitUntil(emitted.toCallback, ({ status }) => status !== 'pending');
}

/** What one delivery to a server with such an answer comes to, and how the server saw it. */
async function deliverToRaw(answer: (socket: TLSSocket) => void) {
  await using server = await startRawServer({ ca: herald.ca, answer });
  const delivery = await deliverTo(server.url);
  await waitFor('the worker to leave', () => server.connectionCount() === 0);
  return { delivery, requests: server.requestCount() };
}

/** Writes as fast as it is taken, until `limit` bytes are written or the reader leaves. */
function pour(socket: TLSSocket, chunk: string, limit: number, onWritten: (bytes: number) => void): void {
  let written = 0;
  const writeOn = () => {
    while (written < limit) {
      written += chunk.length;
      onWritten(written);
      if (!socket.write(chunk)) {
        socket.once('drain', writeOn);
        return;
      }
    }
  };
  writeOn();
}

test.each([200, 201, 204, 299])('%d is a success', async (status) => {
  const receiver = await herald.startReceiver([status]);
  const delivery = await deliverTo(receiver.url);
  expect(delivery).toMatchObject({ status: 'delivered', tries: 1, nextAttemptAt: null, attempts: [{ status }] });
  expect(delivery.attempts[0]).not.toHaveProperty('error');
  expect(delivery).not.toHaveProperty('reason');
});

test.each([301, 400, 401, 404, 500, 503])('%d is a failure, and shows as the status of its attempt', async (status) => {
  const receiver = await herald.startReceiver([status]);
  const delivery = await deliverTo(receiver.url);
  expect(delivery).toMatchObject({ status: 'failed', reason: 'schedule_exhausted', attempts: [{ status }] });
  expect(delivery.attempts[0]).not.toHaveProperty('error');
});

test.each([301, 302, 303, 307, 308])('the target of a %d is never visited', async (status) => {
  const target = await herald.startReceiver();
  const receiver = await herald.startReceiver([{ status, headers: { location: target.url } }]);
  const delivery = await deliverTo(receiver.url);
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ status }] });
  expect([receiver.requests.length, target.requests.length]).toEqual([1, 0]);
});

test('a receiver that never answers is timeout_response, after the deadline', async () => {
  const receiver = await herald.startReceiver(['hang']);
  const { attempts } = await deliverTo(receiver.url);
  expect(attempts).toMatchObject([{ error: 'timeout_response' }]);
  expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5);
  expect(attempts[0]?.durationMs).toBeLessThan(2 * DEADLINE_MS);
  expect(attempts[0]).not.toHaveProperty('status');
});

test('headers that are dribbled past the deadline are timeout_response', async () => {
  const { delivery } = await deliverToRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 20);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'timeout_response' }] });
});

test('a body that is dribbled past the deadline is a success, because its status was 200', async () => {
  const { delivery } = await deliverToRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
  expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status: 200, bodyNote: 'body_stalled' }] });
  expect(delivery.attempts[0]?.durationMs).toBeLessThan(2 * DEADLINE_MS);
});

test('a port on which nobody listens is connection_refused', async () => {
  const delivery = await deliverTo(`https://127.0.0.1:${await freePort()}/hook`);
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'connection_refused' }] });
});

test('a connection that is reset instead of an answer is connection_reset', async () => {
  const receiver = await herald.startReceiver(['reset']);
  const delivery = await deliverTo(receiver.url);
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'connection_reset' }] });
});

test('a body that ends before its announced length is a success, because its status was 200', async () => {
  const answer = (socket: TLSSocket) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
  };
  const { delivery } = await deliverToRaw(answer);
  expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status: 200, bodyNote: 'body_cut' }] });
  // A test event says so, too.
  await using server = await startRawServer({ ca: herald.ca, answer });
  const workspace = await herald.createWorkspace();
  const { id } = await workspace.registerReceiver({ url: server.url });
  const tested = { delivered: true, receiverStatus: 200, answer: 'half', bodyNote: 'body_cut' };
  expect((await workspace.sendTest(id)).body).toMatchObject(tested);
});

test('a url is called exactly as it was given', async () => {
  const receiver = await herald.startReceiver();
  const path = '/a//b/.../%7E;c=1,2?q={a}|b/../c&%2e';
  expect(await deliverTo(receiver.origin + path)).toMatchObject({ status: 'delivered' });
  expect(receiver.requests.map((request) => request.path)).toEqual([path]);
});

test('a url that a former version took, and that the parser rewrites, is called as before', async () => {
  const receiver = await herald.startReceiver();
  const url = `${receiver.origin}/a/../b?q='x y'`;
  const delivery = await deliverToPlanted(herald, await herald.createWorkspace(), url);
  expect(delivery).toMatchObject({ status: 'delivered' });
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/b?q=%27x%20y%27']);
});

test('a certificate of an unknown authority is tls_incomplete_chain, and the request is never sent', async () => {
  await using stranger = await startReceiver({ ca: await createCertificateAuthority('Somebody') });
  const delivery = await deliverTo(stranger.url);
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'tls_incomplete_chain' }] });
  expect(stranger.requests).toEqual([]);
});

test('a certificate for another name is tls_name_mismatch, and the request is never sent', async () => {
  await using server = await startRawServer({ ca: herald.ca, hosts: ['hooks.example.com'], answer: hangUp });
  const delivery = await deliverTo(`https://127.0.0.1:${server.port}/hook`);
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'tls_name_mismatch' }] });
  expect(server.requestCount()).toBe(0);
});

test('an answer that is not HTTP is malformed_answer', async () => {
  const { delivery } = await deliverToRaw((socket) => {
    socket.write('220 mail.example.com ESMTP ready\r\n');
  });
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'malformed_answer' }] });
});

test('a header bomb is malformed_answer, and is not read to its end', async () => {
  let poured = 0;
  const { delivery } = await deliverToRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    pour(socket, `x-bomb: ${'x'.repeat(4 * KIB)}\r\n`, 200 * MIB, (bytes) => (poured = bytes));
  });
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'malformed_answer' }] });
  expect(poured).toBeLessThan(20 * MIB);
});

test('an endless body is a success as soon as 64 KiB of it were read, and its connection is dropped', async () => {
  const { delivery, requests } = await deliverToRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    pour(socket, `1000\r\n${'z'.repeat(4 * KIB)}\r\n`, Infinity, () => undefined);
  });
  expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status: 200, answer: 'z'.repeat(KIB) }] });
  expect(requests).toBe(1);
});

test('an answer of 40 MB is a success of which no more than the first 64 KiB are waited for', async () => {
  let poured = 0;
  const { delivery } = await deliverToRaw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${40 * MIB}\r\n\r\n`);
    pour(socket, 'y'.repeat(16 * KIB), 40 * MIB, (bytes) => (poured = bytes));
  });
  expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status: 200, answer: 'y'.repeat(KIB) }] });
  expect(poured).toBeLessThan(20 * MIB);
});

test('an error with a body of 40 MB is a failure with the first 1 KiB of it', async () => {
  const { delivery } = await deliverToRaw((socket) => {
    socket.write(`HTTP/1.1 500 Oops\r\ncontent-length: ${40 * MIB}\r\n\r\n`);
    pour(socket, 'y'.repeat(16 * KIB), 40 * MIB, () => undefined);
  });
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ status: 500, answer: 'y'.repeat(KIB) }] });
});

test('a name that does not exist is dns_name_unknown', async () => {
  const delivery = await deliverTo('https://nobody.invalid/hook');
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'dns_name_unknown' }] });
});

test('a name of a private address is address_blocked', async () => {
  names.set('private.example.com', '10.0.0.7');
  const delivery = await deliverTo('https://private.example.com/hook');
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ error: 'address_blocked' }] });
});

test('the kept start of an answer is as it came, and at most 1 KiB of UTF-8', async () => {
  const receiver = await herald.startReceiver([
    { status: 500, body: `\u001b[31mred\u0000\u202eevil <script>\n${'é'.repeat(2 * KIB)}` },
  ]);
  const { attempts } = await deliverTo(receiver.url);
  const answer = attempts[0]?.answer ?? '';
  // oxlint-disable-next-line no-control-regex -- it is what came
  expect(answer).toMatch(/^\u001b\[31mred\u0000\u202eevil <script>\né+$/);
  expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(KIB);
  expect(Buffer.byteLength(answer)).toBeGreaterThan(KIB - 16);
});

test('bytes that are no text are shown as replacement characters, within 1 KiB', async () => {
  const receiver = await herald.startReceiver([{ status: 400, body: Buffer.alloc(4 * KIB, 0xff) }]);
  const { attempts } = await deliverTo(receiver.url);
  expect(attempts[0]?.answer).toMatch(/^\ufffd+$/);
  expect(Buffer.byteLength(attempts[0]?.answer ?? '')).toBeLessThanOrEqual(KIB);
});

function hangUp(socket: TLSSocket): void {
  socket.destroy();
}
