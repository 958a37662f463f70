import { once } from 'node:events';
import { connect } from 'node:net';
import type { Random } from './random.ts';

/** What no HTTP client would send, byte by byte. */
export function makeRawRequest(random: Random, key: string): Buffer {
  const head = (line: string, headers: readonly string[] = [], body = '') =>
    Buffer.from([line, 'host: x', ...headers, '', body].join('\r\n'), 'latin1');
  const authorization = `authorization: Bearer ${key}`;
  const json = 'content-type: application/json';
  const makers: readonly [() => Buffer, ...(() => Buffer)[]] = [
    () => Buffer.from(Array.from({ length: 1 + random.below(400) }, () => random.below(256))),
    () => head(`GET /tasks/${String.fromCharCode(random.below(256))} HTTP/1.1`, [authorization]),
    () => head('GET /healthz HTTP/9.9'),
    () => head('GET  /healthz  HTTP/1.1'),
    () => head('GET http://[::1/ HTTP/1.1'),
    () => head('GET * HTTP/1.1'),
    () => head('CONNECT example.com:443 HTTP/1.1'),
    () => head('GET /healthz HTTP/1.1', [`x-odd: ${String.fromCharCode(random.below(32))}`]),
    () => head('GET /healthz HTTP/1.1', [`x${String.fromCharCode(random.below(256))}: 1`]),
    () => head('GET /healthz HTTP/1.1', [`x-long: ${'x'.repeat(random.pick([15_000, 16_400, 70_000]))}`]),
    () =>
      head(
        'GET /healthz HTTP/1.1',
        Array.from({ length: 2_500 }, (_, index) => `x-${index}: 1`),
      ),
    () => head('POST /tasks HTTP/1.1', [authorization, json, 'content-length: -1'], '{}'),
    () => head('POST /tasks HTTP/1.1', [authorization, json, 'content-length: 99999999999999999999'], '{}'),
    () => head('POST /tasks HTTP/1.1', [authorization, json, 'content-length: 2', 'content-length: 3'], '{}'),
    () => head('POST /tasks HTTP/1.1', [authorization, json, 'content-length: 1'], '{}{}'),
    () =>
      head(
        'POST /tasks HTTP/1.1',
        [authorization, json, 'content-length: 2', 'transfer-encoding: chunked'],
        '0\r\n\r\n',
      ),
    () =>
      head('POST /tasks HTTP/1.1', [authorization, json, 'transfer-encoding: gzip, chunked'], '2\r\n{}\r\n0\r\n\r\n'),
    () => head('POST /tasks HTTP/1.1', [authorization, json, 'transfer-encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'),
    () =>
      head('POST /tasks HTTP/1.1', [authorization, json, 'transfer-encoding: chunked'], '2\r\n{}\r\n0\r\nx: 1\r\n\r\n'),
    () => head('POST /tasks HTTP/1.1', [authorization, json, 'expect: nonsense', 'content-length: 2'], '{}'),
    () => head('GET /healthz HTTP/1.1', ['connection: upgrade', 'upgrade: websocket']),
    () => head('GET /healthz HTTP/1.1', ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: AAA']),
    () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
    () => Buffer.from('GET /healthz\r\n\r\n'),
    () => Buffer.from('GET /healthz HTTP/1.1\r\n\r\n'),
  ];
  return random.pick(makers)();
}

/** Sends bytes, ends its side, and returns all that came back. Rejects when the connection is still there at the deadline. */
export async function sendRaw(origin: string, bytes: Buffer, deadlineMs: number): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset is an end as well.
  socket.on('error', () => undefined);
  const timer = setTimeout(() => {
    chunks.push(Buffer.from('(still open)'));
    socket.destroy();
  }, deadlineMs);
  const closed = once(socket, 'close').catch(() => undefined);
  socket.end(bytes);
  await closed;
  clearTimeout(timer);
  const answer = Buffer.concat(chunks).toString('latin1');
  if (answer.endsWith('(still open)')) throw new Error(`the connection is still open after ${deadlineMs} ms`);
  return answer;
}

/** In what the answers on a connection are not as they should be. */
export function findRawBreaches(answer: string): string[] {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].flatMap(([line, status]) =>
    Number(status) >= 500 ? [`it was answered with ${line}`] : [],
  );
}
