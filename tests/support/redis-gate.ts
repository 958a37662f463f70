import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface RedisGateOptions {
  /** Port of the real Redis on loopback. */
  port: number;
  /** A command that contains these bytes doesn't get through, nor does anything after it on its connection. */
  stopAt: string;
  /** Default: `command`. `reply`: the command does get through, and what is withheld is all that Redis says from then on. */
  withhold?: 'command' | 'reply';
}

export interface RedisGate extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the command, or the reply to it, was seen and withheld. */
  readonly stopped: Promise<void>;
  /** Ends the connections that there are, and lets everything through from now on. */
  open(): void;
}

/**
 * A way to Redis that is cut at one command. Redis executes only commands that are complete, so it never sees the one whose
 * bytes are withheld, while all that came before has been answered: the state that a crash at that line leaves. Cut at the reply,
 * it has executed the command, and nobody knows.
 */
export async function startRedisGate({ port, stopAt, withhold = 'command' }: RedisGateOptions): Promise<RedisGate> {
  const sockets = new Set<Socket>();
  let isOpen = false;
  const stopped = Promise.withResolvers<undefined>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // a killed process resets its connections
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    keep(client);
    const redis = keep(connect({ host: '127.0.0.1', port }));
    let tail = '';
    let open = true;
    client.on('data', (chunk) => {
      if (!open) {
        if (withhold === 'reply') redis.write(chunk);
        return;
      }
      // The bytes may come in two chunks.
      const seen = tail + chunk.toString('latin1');
      tail = seen.slice(-(stopAt.length - 1));
      if (isOpen || !seen.includes(stopAt)) {
        redis.write(chunk);
        return;
      }
      open = false;
      if (withhold === 'reply') redis.write(chunk);
      else stopped.resolve(undefined);
    });
    redis.on('data', (chunk) => {
      if (open || withhold === 'command') client.write(chunk);
      else stopped.resolve(undefined);
    });
    client.on('close', () => redis.destroy());
    redis.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stopped: stopped.promise,
    open() {
      isOpen = true;
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
