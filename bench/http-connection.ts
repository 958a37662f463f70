import { connect, type Socket } from 'node:net';

export type HttpAnswer = { readonly status: number; readonly text: string };

/** One kept HTTP/1.1 connection, one request at a time. */
export type HttpConnection = {
  readonly request: (method: string, path: string, headers: string, body: string) => Promise<HttpAnswer>;
  readonly close: () => void;
};

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Knows just enough of HTTP for Herald's API: no chunks, no pipelining. It costs a tenth of node:http, which leaves
 * more of the two cores to the measured processes. After the API has closed an idle connection, the next request opens
 * a new one.
 */
export function openHttpConnection(port: number): HttpConnection {
  let socket: Socket | undefined;
  let received: Buffer = Buffer.alloc(0);
  let waiting: PromiseWithResolvers<HttpAnswer> | undefined;

  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = undefined;
    socket = undefined;
  };
  const take = (chunk: Buffer) => {
    // An answer without a request, such as a 408, ends an idle connection.
    if (!waiting) return;
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = readAnswer(received);
    if (!answer) return;
    received = Buffer.alloc(0);
    const taken = waiting;
    waiting = undefined;
    taken.resolve(answer);
  };
  const open = (): Socket => {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true });
    opened.on('error', fail).on('data', take);
    opened.on('close', () => {
      if (socket === opened) fail(new Error(`the connection to port ${port} was closed before its answer`));
    });
    return opened;
  };
  return {
    request(method, path, headers, body) {
      if (waiting) throw new Error('one request at a time');
      waiting = Promise.withResolvers();
      socket ??= open();
      const length = Buffer.byteLength(body);
      const type = length === 0 ? '' : `content-type: application/json\r\ncontent-length: ${length}\r\n`;
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}${type}\r\n${body}`);
      return waiting.promise;
    },
    close: () => {
      socket?.removeAllListeners('close').destroy();
    },
  };
}

function readAnswer(received: Buffer): HttpAnswer | undefined {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? NaN);
  if (Number.isNaN(length)) throw new Error(`an answer without content-length: ${head}`);
  const start = end + END_OF_HEAD.length;
  if (received.length < start + length) return undefined;
  return { status: Number(head.slice(9, 12)), text: received.toString('utf8', start, start + length) };
}
