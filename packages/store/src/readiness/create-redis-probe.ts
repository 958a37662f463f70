import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { judgeEviction } from '../requirements/judge-eviction.ts';
import { findObstacles } from '../requirements/find-obstacles.ts';
import { readInfo } from '../redis/read-info.ts';
import type { Finding } from '@herald/runtime/findings/finding';

/** A probe's mark leaves by itself, in ms. */
const MARK_TTL_MS = 60_000;
/** Share of its memory above which Redis is about to refuse writes. */
const MEMORY_LIMIT_SHARE = 0.95;
const MIB = 1_048_576;

/** Finds why Redis can't take what is accepted now: it refuses a write or a command, may throw data away, or is nearly full. */
export function createRedisProbe(redis: RedisClient) {
  return async function probeRedis(): Promise<readonly Finding[]> {
    try {
      // A real write: a Redis that is full, a replica, or one that can't save answers pings all the same.
      const [, memories, obstacles] = await Promise.all([
        redis.set(GLOBAL_KEYS.probe, '1', 'PX', MARK_TTL_MS),
        Promise.all(mastersOf(redis).map((master) => readInfo(master, 'memory'))),
        findObstacles(redis),
      ]);
      return [...obstacles, ...memories.flatMap((memory) => (memory ? judgeMemory(memory) : []))];
    } catch (error) {
      return [problem('redis_refuses_writes', `Redis didn't take a write (${whyInOneWord(error)}); its log says more`)];
    }
  };
}

/** By what `INFO memory` says, which users may read that may not read settings. */
function judgeMemory(memory: ReadonlyMap<string, string>): Finding[] {
  const limit = Number(memory.get('maxmemory') ?? 0);
  const used = Number(memory.get('used_memory') ?? 0);
  const found = judgeEviction(memory);
  if (limit > 0 && used >= limit * MEMORY_LIMIT_SHARE) {
    const [usedMib, limitMib] = [used, limit].map((bytes) => Math.round(bytes / MIB));
    found.push(
      problem('redis_nearly_full', `Redis uses ${usedMib} of ${limitMib} MiB; raise maxmemory or lower RETENTION`),
    );
  }
  return found;
}

/**
 * `OOM`, `MISCONF`, `ECONNREFUSED`: the page is open to whoever reaches the API, and the whole message may hold a user, an address or a
 * setting.
 */
function whyInOneWord(error: unknown): string {
  if (!isErrorLike(error)) return 'no answer';
  const { code } = error as NodeJS.ErrnoException;
  return code ?? /^(?:-?)([A-Z]{3,20})\b/.exec(error.message)?.[1] ?? 'no answer';
}

function problem(code: string, sentence: string): Finding {
  return { level: 'error', code, sentence };
}
