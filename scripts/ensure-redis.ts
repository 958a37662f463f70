import { ensureRedisServer } from './local/ensure-redis-server.ts';

// Runs before `npm test`. The tests start, kill and restart their own servers, and never touch REDIS_URL.
try {
  ensureRedisServer();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
