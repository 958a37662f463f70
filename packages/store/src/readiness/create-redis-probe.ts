import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { error, type Finding } from '@herald/runtime/findings/finding';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import { checkPersistence, checkRole, judgeMemory } from '../redis/check-master.ts';
import { readMemory } from '../redis/read-info.ts';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { checkPermissions } from '../redis/check-permissions.ts';

/** The probe's key expires after this, in ms. */
const MARK_TTL_MS = 60_000;

/** Sentences for the open page: they name neither users nor addresses. */
const SENTENCES: Readonly<Record<string, string>> = {
  redis_replica: "Redis is a replica, and what is written to it doesn't last; connect to its master",
  redis_not_permitted: 'Redis refuses commands, keys or channels that are needed (NOPERM); "herald doctor" names them',
  redis_command_missing: 'Redis has no longer all commands that are needed; "herald doctor" names them',
};

/** Finds what a crash of Redis would lose. What a server doesn't tell, it never does: only a start says so. */
export async function findPersistenceWarnings(redis: RedisClient): Promise<readonly Finding[]> {
  const found = (await Promise.all(mastersOf(redis).map(checkPersistence))).flat();
  return [...new Map(found.map((each) => [each.code, each])).values()].filter(({ code }) => !code.endsWith('_unknown'));
}

/** Finds why Redis can't take transitions now: it refuses a write or a command, or may evict data. Warns when it is nearly full. */
export function createRedisProbe(redis: RedisClient) {
  return async function probeRedis(): Promise<readonly Finding[]> {
    const memories = readMemory(redis).then((masters) =>
      masters.flatMap((memory) => (memory ? judgeMemory(memory) : [])),
    );
    try {
      // A real write: a Redis that is full, is a replica or can't save still answers pings.
      const [, ofMemory, obstacles] = await Promise.all([
        redis.set(GLOBAL_KEYS.probe, '1', 'PX', MARK_TTL_MS),
        memories,
        findObstacles(redis),
      ]);
      return [...obstacles, ...ofMemory];
    } catch (thrown) {
      const sentence = `Redis didn't take a write (${whyInOneWord(thrown)}); its log says more`;
      return [error('redis_refuses_writes', sentence), ...(await memories.catch(() => []))];
    }
  };
}

/** What has changed on a Redis that was fit when this process started: its role, or the rights of its user. */
async function findObstacles(redis: RedisClient): Promise<Finding[]> {
  const found = await Promise.all(
    mastersOf(redis).map(async (master) => [
      ...(await checkRole(master)),
      ...(await checkPermissions(master, { user: 'default', shardCount: 1, waits: false })),
    ]),
  );
  const codes = new Set(found.flat().map(({ code }) => code));
  return [...codes].map((code) => error(code, SENTENCES[code] ?? 'Redis can not be used'));
}

/**
 * A word such as `OOM`, `MISCONF` or `ECONNREFUSED`. The page is open to every client of the API, and the whole message
 * may hold a user, an address or a setting.
 */
function whyInOneWord(thrown: unknown): string {
  if (!isErrorLike(thrown)) return 'no answer';
  const { code } = thrown as NodeJS.ErrnoException;
  return code ?? /^-?([A-Z]{3,20})\b/.exec(thrown.message)?.[1] ?? 'no answer';
}
