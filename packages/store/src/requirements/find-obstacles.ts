import type { Finding } from '@herald/runtime/findings/finding';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { checkPermissions } from './check-permissions.ts';
import { checkRole } from './check-role.ts';

/** Names neither users nor addresses: whoever reaches the API may read this. */
const SENTENCES: Readonly<Record<string, string>> = {
  redis_replica: "Redis is a replica, and what is written to it doesn't last; connect to its master",
  redis_not_permitted: 'Redis refuses commands, keys or channels that are needed (NOPERM); "herald doctor" names them',
  redis_command_missing: 'Redis has no longer all commands that are needed; "herald doctor" names them',
};

/** What came between us and a Redis that was fit when we started: another role, or fewer rights. */
export async function findObstacles(redis: RedisClient): Promise<Finding[]> {
  const found = await Promise.all(
    mastersOf(redis).map(async (master) => [
      ...(await checkRole(master)),
      ...(await checkPermissions(master, { user: 'default', shardCount: 1, waits: false })),
    ]),
  );
  const codes = new Set(found.flat().map(({ code }) => code));
  return [...codes].map((code) => ({ level: 'error', code, sentence: SENTENCES[code] ?? 'Redis can not be used' }));
}
