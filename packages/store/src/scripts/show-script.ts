import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from './script.ts';

const SHOW_LUA = /* lua */ `#!lua flags=allow-oom
-- Note that a process was seen, and forget those that were not seen for long.
-- KEYS[1] processes (zset: name → when it was seen last, ms)
-- ARGV[1] now (ms)   ARGV[2] name   ARGV[3] seen before this is long ago (ms)   ARGV[4] time to live of all (ms)
-- Returns nothing.
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
`;

/** Notes in a zset that a process was seen, also when Redis is full: what still works must not look dead. */
export function createShow(redis: RedisClient) {
  const show = defineScript(redis, SHOW_LUA);
  return async (key: string, name: string, now: number, keptMs: number): Promise<void> => {
    await show([key], [now, name, now - keptMs, keptMs]);
  };
}
