import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { SlowBehaviour, SlowClientsInput, SlowClientsReply } from '../scenarios/slow-clients.ts';
import { readInput, reply } from './program-io.ts';

// Clients that hold connections and send next to nothing. They replace a connection that the API closes.

/** Time between two bytes of a slow client. */
const BYTE_EVERY_MS = 1_000;
/**
 * Connections opened at once, ten times a second. The API closes silent ones after 10 s, so 10,000 come back at this
 * pace.
 */
const OPENED_AT_A_TIME = 100;

const { port, groups, key } = readInput() as SlowClientsInput;
let open = 0;
let reopened = 0;

const OPENING: Record<SlowBehaviour, string> = {
  silent: '',
  idle: `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`,
  'slow-headers': `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx: `,
  'slow-body':
    `POST /tasks HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n` +
    'content-type: application/json\r\ncontent-length: 200000\r\n\r\n{"input":"',
};

/** Uses many loopback addresses, so that recently closed connections don't use up a client's ports. */
function hold(behaviour: SlowBehaviour, index: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (index % 200)}` });
  let timer: NodeJS.Timeout | undefined;
  socket.on('connect', () => {
    open++;
    socket.write(OPENING[behaviour]);
    if (behaviour.startsWith('slow')) timer = setInterval(() => socket.write('x'), BYTE_EVERY_MS);
    resolve(undefined);
  });
  socket.on('error', () => undefined); // 'close' follows
  socket.on('close', () => {
    if (timer) {
      clearInterval(timer);
    }
    if (!socket.connecting) open = Math.max(0, open - 1);
    reopened++;
    resolve(undefined);
    // After a random delay, so that they don't all reconnect at once.
    setTimeout(() => void hold(behaviour, index), 100 + Math.random() * 400);
  });
  socket.resume();
  return promise;
}

const all = Object.entries(groups).flatMap(([behaviour, count]) =>
  Array.from({ length: count }, () => behaviour as SlowBehaviour),
);
for (let start = 0; start < all.length; start += OPENED_AT_A_TIME) {
  const some = all.slice(start, start + OPENED_AT_A_TIME);
  await Promise.all([pause(100), ...some.map((behaviour, index) => hold(behaviour, start + index))]);
}
for (;;) {
  reply({ open, reopened } satisfies SlowClientsReply);
  await pause(500);
}
