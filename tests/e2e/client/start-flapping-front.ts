import { once } from 'node:events';
import { createServer, request as requestOf, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What it does with a request. */
const FAULTS = ['refuses', 'hangs up before', 'hangs up after', 'cuts the answer off', 'is busy'] as const;
type Fault = (typeof FAULTS)[number];

export interface FlappingFront extends AsyncDisposable {
  readonly origin: string;
  /** How often each fault was met. */
  readonly met: Record<Fault | 'passes' | 'finds nobody', number>;
}

/**
 * A proxy before an API that is there and is not. Every second request meets a fault, each in turn: a 503 or 429, or a
 * connection that breaks before the API has the request, after it has it, or in the middle of its answer.
 */
export async function startFlappingFront(findOrigin: () => string): Promise<FlappingFront> {
  const met: FlappingFront['met'] = {
    passes: 0,
    'finds nobody': 0,
    refuses: 0,
    'hangs up before': 0,
    'hangs up after': 0,
    'cuts the answer off': 0,
    'is busy': 0,
  };
  let count = 0;
  const nextFault = (): Fault | 'passes' =>
    ++count % 2 === 0 ? (FAULTS[(count / 2) % FAULTS.length] ?? 'passes') : 'passes';

  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await buffer(req);
    const fault = nextFault();
    met[fault]++;
    if (fault === 'refuses') return void res.writeHead(503, { 'retry-after': '0' }).end();
    if (fault === 'is busy') return void res.writeHead(429, { 'retry-after': '0' }).end();
    if (fault === 'hangs up before') return void req.socket.destroy();
    const answer = await pass(findOrigin(), req, body);
    if (!answer) {
      met['finds nobody']++;
      return void req.socket.destroy();
    }
    if (fault === 'hangs up after') return void req.socket.destroy();
    res.writeHead(answer.status, { 'content-type': answer.type, 'content-length': answer.bytes.length });
    if (fault === 'passes') return void res.end(answer.bytes);
    res.write(answer.bytes.subarray(0, answer.bytes.length / 2), () => req.socket.destroy());
  };
  const server = createServer((req, res) => {
    serve(req, res).catch(() => req.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    met,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The API's answer. Undefined: nobody listens there, or it died. */
async function pass(origin: string, { url = '', method, headers }: IncomingMessage, body: Buffer) {
  try {
    const { host: _host, connection: _connection, ...rest } = headers;
    const sent = requestOf(new URL(url, origin), { method, headers: rest, agent: false });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const type = answer.headers['content-type'] ?? '';
    return { status: answer.statusCode ?? 500, type, bytes: await buffer(answer) };
  } catch {
    return undefined;
  }
}
