import { ensureRedisServer } from './local/ensure-redis-server.ts';

// Before `npm test`, whose tests start, kill and restart servers of their own; a REDIS_URL is never touched by them.
try {
  ensureRedisServer();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
