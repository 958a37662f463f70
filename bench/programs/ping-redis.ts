import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { once } from 'node:events';
import type { Pause } from '../pauses.ts';
import { readInput, reply } from './program-io.ts';

// Asks Redis every few ms, and writes each wait for an answer as a line of JSON.

const EVERY_MS = 2;
const WAIT_FROM_MS = 2;

const { url, file } = readInput() as { url: string; file: string };
const { hostname, port } = new URL(url);
const socket = connect(Number(port), hostname).setNoDelay(true);
await once(socket, 'connect');
reply({ isReady: true });
for (;;) {
  const askedAt = performance.now();
  socket.write('PING\r\n');
  await once(socket, 'data');
  const ms = performance.now() - askedAt;
  const waited: Pause = { kind: 'no answer', at: performance.timeOrigin + askedAt, ms };
  if (ms >= WAIT_FROM_MS) appendFileSync(file, `${JSON.stringify(waited)}\n`);
  await pause(EVERY_MS);
}
