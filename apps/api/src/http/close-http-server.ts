import { once } from 'node:events';
import type { Server } from 'node:http';

/** How often connections that became idle are closed while the server stops, in ms. */
const IDLE_CHECK_MS = 50;

/**
 * Answers what was taken, and no more: a client that keeps its connection is told to close it. One that is still sending or waiting
 * when the time is over is cut off, so that no client decides when the process may end.
 */
export async function closeHttpServer(server: Server, limitMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'));
  server.close();
  const idleTimer = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const limitTimer = setTimeout(() => {
    server.closeAllConnections();
  }, limitMs);
  await closed;
  clearInterval(idleTimer);
  clearTimeout(limitTimer);
}
