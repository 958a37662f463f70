import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the range of outgoing connections (Linux: from 32768). Otherwise a client that keeps dialling a killed server
// could take its port before the server comes back.
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const TRIES = 50;
const given = new Set<number>();
/**
 * Each of jest's processes has a part of the ports for itself: what one has found, and will listen to in a second, another
 * one would find free too.
 */
const PARTS = 12;
const workerId = process.env.JEST_WORKER_ID;
const size = (HIGHEST_PORT - LOWEST_PORT) / (workerId === undefined ? 1 : PARTS);
const lowest = LOWEST_PORT + (Number(workerId ?? 0) % PARTS) * size;

/**
 * A loopback port that is free now, and another one at each call. Outside of jest another process may take it first: be
 * ready to try again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(lowest, lowest + size);
    if (given.has(port)) continue;
    given.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`none of ${TRIES} loopback ports from ${lowest} to ${lowest + size - 1} is free`);
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

/** Whether the error has one of these codes. Without `instanceof`: in jest, Node's errors belong to another realm. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && codes.includes(String(error.code));
}

export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
