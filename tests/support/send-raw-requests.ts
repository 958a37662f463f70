import { patient } from '@herald/test-kit';
import { connect } from 'node:net';

/** A request byte by byte: no client in between tidies it. */
export interface RawRequest {
  method: string;
  /** As it stands in the request line. */
  target: string;
  headers: Readonly<Record<string, string>>;
  /** Sent with its length, unless `transfer-encoding` says that it is in chunks already. */
  body?: string;
}

export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  status: number;
  headers: Readonly<Record<string, string>>;
  /** What came of the body; of a stream nothing. */
  text: string;
}

const DEPTH = 16;
const CONNECTIONS = 4;
const DEADLINE_MS = patient(20_000);

/**
 * Sends requests on few connections, many at once on each, and returns their answers in order. Many connections end on
 * the way, since bytes that are no request end them: what was behind those is sent again, each on a connection of its own.
 * @param depth requests that are under way on one connection, one behind the other; 1: none is sent twice
 */
export async function sendRawRequests(
  origin: string,
  requests: readonly RawRequest[],
  depth = DEPTH,
): Promise<RawAnswer[]> {
  const answers = new Map<RawRequest, RawAnswer>();
  const shared = requests.filter((request) => !endsConnection(request));
  await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, index) =>
      sendInTurn(
        origin,
        shared.filter((_request, at) => at % CONNECTIONS === index),
        depth,
        answers,
      ),
    ),
  );
  const left = requests.filter((request) => !answers.has(request));
  while (left.length > 0) {
    const some = left.splice(0, DEPTH);
    await Promise.all(some.map((request) => sendOver(origin, [[request]], answers)));
  }
  return requests.map((request) => answers.get(request) ?? { status: 0, headers: {}, text: '' });
}

/** What Node takes for no request, behind which it reads nothing more, or to which it answers before others. */
function endsConnection({ method, target, headers }: RawRequest): boolean {
  const isOdd = !/^[A-Z-]+$/.test(method) || method === 'CONNECT' || !/^[/hH]/.test(target);
  return isOdd || /[\0-\x20\x7f]/.test(target) || 'upgrade' in headers || 'expect' in headers;
}

async function sendInTurn(
  origin: string,
  requests: readonly RawRequest[],
  depth: number,
  answers: Map<RawRequest, RawAnswer>,
) {
  const groups = Array.from({ length: Math.ceil(requests.length / depth) }, (_, index) =>
    requests.slice(index * depth, (index + 1) * depth),
  );
  // Each round uses the connection until it ends.
  while (groups.length > 0) groups.splice(0, await sendOver(origin, groups, answers));
}

/** Sends groups over one connection until all are answered or it is closed. Returns how many groups were begun. */
function sendOver(
  origin: string,
  groups: readonly (readonly RawRequest[])[],
  answers: Map<RawRequest, RawAnswer>,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let begun = 0;
  let waiting: RawRequest[] = [];
  let received: Buffer = Buffer.alloc(0);
  const sendNext = () => {
    const group = groups[begun];
    if (!group) {
      socket.destroy();
      return;
    }
    begun++;
    waiting = [...group];
    socket.write(Buffer.concat(group.map(toBytes)));
  };
  socket.setTimeout(DEADLINE_MS, () => {
    reject(new Error(`no answer within ${DEADLINE_MS} ms to ${JSON.stringify(waiting[0])}`));
    socket.destroy();
  });
  socket.on('connect', sendNext);
  socket.on('error', () => undefined); // a reset is an end as well
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let found = takeAnswer(received, waiting[0]); found; found = takeAnswer(received, waiting[0])) {
      received = received.subarray(found.length);
      if (found.answer.status < 200) continue;
      const request = waiting.shift();
      if (!request) {
        reject(new Error(`an answer that nobody asked for: ${found.answer.status} ${found.answer.text}`));
        socket.destroy();
        return;
      }
      answers.set(request, found.answer);
      if (found.isStream) {
        socket.destroy();
        return;
      }
      if (waiting.length === 0) sendNext();
    }
  });
  socket.on('close', () => {
    resolve(begun);
  });
  return promise;
}

function toBytes({ method, target, headers, body }: RawRequest): Buffer {
  const isChunked = 'transfer-encoding' in headers;
  const all = {
    host: 'herald.example.com',
    ...headers,
    ...(body !== undefined && !isChunked && { 'content-length': Buffer.byteLength(body) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`${method} ${target} HTTP/1.1`, ...lines, '', body ?? ''].join('\r\n'));
}

/** The first answer in these bytes; undefined while it is incomplete. */
function takeAnswer(received: Buffer, request: RawRequest | undefined) {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.replace(/:.*/s, '').toLowerCase(), line.replace(/^[^:]*:\s*/, '')]),
  );
  const status = Number(statusLine.split(' ')[1]);
  const start = headEnd + 4;
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  const isBare = request?.method === 'HEAD' || status < 200 || status === 204 || status === 304 || isStream;
  const body = isBare ? { text: '', length: 0 } : takeBody(received.subarray(start), headers);
  return body && { answer: { status, headers, text: body.text }, isStream, length: start + body.length };
}

function takeBody(bytes: Buffer, headers: Readonly<Record<string, string>>) {
  if (headers['transfer-encoding'] === undefined) {
    const length = Number(headers['content-length'] ?? 0);
    return bytes.length < length ? undefined : { text: bytes.toString('utf8', 0, length), length };
  }
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
    if (size === 0) return { text: Buffer.concat(chunks).toString(), length: at };
  }
}
