import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { error, warning, type Finding } from '@herald/runtime/findings/finding';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { CROWDED_SHARE, RESERVED_SHARE, shareOf } from '../memory/memory-guard.ts';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { readInfo } from '../redis/read-info.ts';
import { checkPermissions } from '../requirements/check-permissions.ts';
import { checkRole } from '../requirements/check-role.ts';
import { checkPersistence } from '../requirements/check-persistence.ts';
import { judgeEviction } from '../requirements/judge-eviction.ts';

/** The probe's key expires after this, in ms. */
const MARK_TTL_MS = 60_000;
const MIB = 1_048_576;

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
    try {
      // A real write: a Redis that is full, is a replica or can't save still answers pings.
      const [, memories, obstacles] = await Promise.all([
        redis.set(GLOBAL_KEYS.probe, '1', 'PX', MARK_TTL_MS),
        Promise.all(mastersOf(redis).map((master) => readInfo(master, 'memory'))),
        findObstacles(redis),
      ]);
      return [...obstacles, ...memories.flatMap((memory) => (memory ? judgeMemory(memory) : []))];
    } catch (thrown) {
      return [error('redis_refuses_writes', `Redis didn't take a write (${whyInOneWord(thrown)}); its log says more`)];
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

/** Reads `INFO memory` alone: a user that may read it need not be allowed to read settings. */
function judgeMemory(memory: ReadonlyMap<string, string>): Finding[] {
  const found = judgeEviction(memory);
  const share = shareOf(memory);
  if (share < CROWDED_SHARE) return found;
  const [used, limit] = ['used_memory', 'maxmemory'].map((name) => Math.round(Number(memory.get(name)) / MIB));
  const refused = share < RESERVED_SHARE ? 'the workspaces that hold the most are' : 'every workspace is';
  const sentence = `Redis uses ${used} of ${limit} MiB: ${refused} refused; raise maxmemory, or purge what "herald queues --by-workspace" shows`;
  // Not an error: what ends or frees something goes on, and so do the pages of operators.
  return [...found, warning('redis_nearly_full', sentence)];
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
