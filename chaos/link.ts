import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { LinkFault } from './plan.ts';

export type Link = AsyncDisposable & {
  /** On loopback. */
  readonly port: number;
  /**
   * 'cut': connections are reset, new ones too. 'silence': bytes wait. 'delay': every chunk is late. 'forget': existing
   * connections are dead for good, and don't even close; new ones work.
   */
  begin(fault: LinkFault): void;
  heal(): void;
};

/** Delay of a chunk, each way, in ms. */
const DELAY_MS = 40;

/**
 * A way to a server on loopback, with faults. Bytes within a connection are never lost or reordered.
 * @param delayMs delay of a chunk, each way, during the fault 'delay'
 */
export async function startLink(port: number, delayMs = DELAY_MS): Promise<Link> {
  const sockets = new Set<Socket>();
  const pipes = new Set<{ release: () => void; forget: () => void }>();
  let fault: LinkFault | undefined;

  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined); // a killed process resets its connections; 'close' follows
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const pipe = (from: Socket, to: Socket) => {
    const late: { chunk: Buffer; dueAt: number }[] = [];
    let timer: NodeJS.Timeout | undefined;
    let isForgotten = false;
    const release = () => {
      clearTimeout(timer);
      timer = undefined;
      if (fault === 'silence' || isForgotten) return;
      for (let first = late[0]; first; first = late[0]) {
        const waitMs = fault === 'delay' ? first.dueAt - performance.now() : 0;
        if (waitMs > 0) {
          timer = setTimeout(release, waitMs);
          return;
        }
        late.shift();
        to.write(first.chunk);
      }
    };
    const forget = () => {
      isForgotten = true;
    };
    const entry = { release, forget };
    pipes.add(entry);
    from.on('data', (chunk: Buffer) => {
      if (isForgotten) return;
      if (fault === undefined && late.length === 0) {
        to.write(chunk);
        return;
      }
      late.push({ chunk, dueAt: performance.now() + delayMs });
      if (timer === undefined) release();
    });
    from.on('close', () => {
      pipes.delete(entry);
      clearTimeout(timer);
      if (!isForgotten) to.destroy();
    });
  };
  const listener = createServer((client) => {
    keep(client);
    if (fault === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const server = keep(connect({ host: '127.0.0.1', port }));
    pipe(client, server);
    pipe(server, client);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    begin(next) {
      fault = next;
      if (fault === 'forget') for (const { forget } of pipes) forget();
      if (fault === 'cut') for (const socket of sockets) socket.resetAndDestroy();
    },
    heal() {
      fault = undefined;
      for (const { release } of pipes) release();
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const socket of sockets) socket.destroy();
      await once(listener, 'close');
    },
  };
}
