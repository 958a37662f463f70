import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** `before`: these bytes don't get through. `after`: they do, and what the server says to them doesn't. */
export type StopAt = { readonly bytes: string; readonly when: 'before' | 'after' };

export interface Stop {
  /** Whether a connection stands still there. After `after`, the server has answered. */
  isReached(): boolean;
  /** Passes on what waits, where somebody is left to take it. If nothing was stopped yet, nothing will be. */
  letGo(): void;
}

export interface Gate extends AsyncDisposable {
  readonly port: number;
  /** The next connection that sends these bytes stands still. Others go on. */
  stopAt(at: StopAt): Stop;
  /** From now on each chunk is late by so much, each way, in ms; Infinity: until this is called again. */
  delay(ms: number): void;
}

type Valve = ReturnType<typeof createValve>;

/**
 * A way to a server on loopback that stops a connection exactly at what it says. A server acts on a statement once it is
 * complete, so that it never sees the one whose bytes are withheld, while all that came before has been answered.
 */
export async function startGate(port: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  const valves = new Set<Valve>();
  const awaited = new Set<StopAt & { reach: (valve: Valve) => void }>();
  let delayMs = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined); // who is killed resets its connections; 'close' follows
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const pipe = (from: Socket, to: Socket) => {
    const valve = createValve(to, () => delayMs);
    valves.add(valve);
    from.on('close', () => {
      valves.delete(valve);
      to.destroy();
    });
    return valve;
  };
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port });
    keep(client);
    keep(target);
    const [up, down] = [pipe(client, target), pipe(target, client)];
    let text = '';
    client.on('data', (chunk: Buffer) => {
      const former = text.length;
      text += chunk.toString('latin1');
      for (const stop of awaited) {
        // The bytes may come in two chunks.
        if (!text.includes(stop.bytes, Math.max(0, former - stop.bytes.length + 1))) continue;
        awaited.delete(stop);
        const valve = stop.when === 'before' ? up : down;
        valve.shut();
        stop.reach(valve);
      }
      text = text.slice(-1_000);
      up.pass(chunk);
    });
    target.on('data', (chunk: Buffer) => {
      down.pass(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stopAt(at) {
      let stopped: Valve | undefined;
      const stop = { ...at, reach: (valve: Valve) => (stopped = valve) };
      awaited.add(stop);
      return {
        isReached: () => stopped?.isHolding() ?? false,
        letGo() {
          awaited.delete(stop);
          stopped?.open();
        },
      };
    },
    delay(ms) {
      delayMs = ms;
      for (const valve of valves) valve.release();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** One direction of a connection. Bytes are never lost or reordered. */
function createValve(to: Socket, delayMs: () => number) {
  const late: { readonly chunk: Buffer; readonly at: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isShut = false;
  const release = () => {
    clearTimeout(timer);
    for (let first = late[0]; first && !isShut; first = late[0]) {
      const waitMs = first.at + delayMs() - performance.now();
      if (waitMs > 0) {
        if (waitMs < Infinity) timer = setTimeout(release, waitMs);
        return;
      }
      late.shift();
      to.write(first.chunk);
    }
  };
  to.on('close', () => {
    clearTimeout(timer);
  });
  return {
    pass(chunk: Buffer) {
      late.push({ chunk, at: performance.now() });
      release();
    },
    shut() {
      isShut = true;
    },
    open() {
      isShut = false;
      release();
    },
    isHolding: () => isShut && late.length > 0,
    release,
  };
}
