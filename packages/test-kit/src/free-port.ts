import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { hasCode } from './errors.ts';

// Below the range of outgoing connections (Linux: from 32768). Otherwise a client that keeps dialling a killed server
// could take its port before the server comes back.
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const TRIES = 50;
const given = new Set<number>();

/** A loopback port that is free now, and another one at each call. Another process may take it first: be ready to try again. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (given.has(port)) continue;
    given.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`none of ${TRIES} loopback ports between ${LOWEST_PORT} and ${HIGHEST_PORT} is free`);
}

/** Whether a server could listen on the port now. Throws errors other than "in use". */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
