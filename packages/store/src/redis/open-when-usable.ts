import { isErrorLike } from '@herald/runtime/errors';
import { error, type Finding } from '@herald/runtime/finding';
import type { Resources } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { demandUsableRedis, type CheckErrorCode, type CheckRedisOptions } from './check-redis.ts';
import { isRedisRefusal, isRedisUnavailable, sayRefusal } from './refusal.ts';
import { closeRedis, connectRedis, RedisUnreachableError } from './connect-redis.ts';
import type { FailureCode } from './explain-failure.ts';

/**
 * What becomes of a start, by what it finds. It waits where Redis isn't there yet, or can't work for a time: that
 * passes without a change of what is configured here. It ends where Redis is there and doesn't fit. A guess ends none.
 */
export const START_CAUSES: Readonly<Record<FailureCode | CheckErrorCode | 'redis_away', 'waits' | 'ends'>> = {
  redis_away: 'waits',
  redis_hangs: 'waits',
  // As a balancer does while nothing is behind it.
  redis_closes: 'waits',
  redis_too_many_clients: 'waits',
  redis_loading: 'waits',
  redis_cluster_down: 'waits',
  redis_master_away: 'waits',
  // Sentinels are told of masters while they run.
  redis_no_master: 'waits',
  redis_client_certificate: 'waits',
  // Of Redis, or the clock of a machine that has just been started.
  redis_certificate_expired: 'waits',
  // As in a failover.
  redis_replica: 'waits',
  redis_refuses_writes: 'waits',
  redis_wrong_password: 'ends',
  redis_password_missing: 'ends',
  redis_sentinel_password: 'ends',
  redis_protected: 'ends',
  redis_not_permitted: 'ends',
  redis_command_missing: 'ends',
  redis_too_old: 'ends',
  redis_is_none: 'ends',
  redis_is_sentinel: 'ends',
  redis_no_sentinel: 'ends',
  cluster_missing: 'ends',
  cluster_unexpected: 'ends',
  eviction_policy: 'ends',
  redis_certificate_unknown: 'ends',
  redis_certificate_name: 'ends',
  redis_plain_expected: 'ends',
  redis_tls_expected: 'ends',
  redis_database_missing: 'ends',
  redis_database_refused: 'ends',
};

type OpenWhenUsableDeps<T> = CheckRedisOptions & {
  readonly logger: Logger;
  /** Aborted: nothing is waited for any more. */
  readonly signal: AbortSignal;
  /** Called with each cause, before it waits. What it throws ends the start. */
  readonly onWait: (cause: Finding) => Promise<void>;
  /** Opens the process on a Redis that could be used just now, and had these weaknesses. */
  readonly open: (weaknesses: readonly Finding[]) => Promise<T>;
  /** What `open` has acquired. Released when it fails. */
  readonly resources: Pick<Resources, 'release'>;
};

/** How long it waits before it looks again, in ms. */
const AGAIN_AFTER_MS = 1_000;

/**
 * Opens a process once Redis can be used, for however long that takes. Until then nothing is written there, and no
 * connection stays.
 * @returns undefined when it was aborted while it waited
 * @throws RedisUnreachableError with one sentence, which says what to set, where waiting doesn't help
 */
export async function openWhenUsable<T>(deps: OpenWhenUsableDeps<T>): Promise<T | undefined> {
  const { logger, signal, onWait, open, resources } = deps;
  let told: string | undefined;
  while (!signal.aborted) {
    try {
      const weaknesses = await unlessAborted(signal, look(deps));
      if (weaknesses) return await open(weaknesses);
    } catch (thrown) {
      await resources.release();
      const cause = judgeStart(thrown);
      if (!cause) throw thrown;
      if (cause.code !== told) logger.warn('process.waiting', { code: cause.code, sentence: cause.sentence });
      told = cause.code;
      await onWait(cause);
    }
    await wait(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

async function look(options: CheckRedisOptions): Promise<readonly Finding[]> {
  const onError = () => undefined; // the cause is told
  const redis = await connectRedis({ target: options.target, use: 'request', name: 'herald-start', onError });
  try {
    return await demandUsableRedis(redis, options);
  } finally {
    await closeRedis(redis);
  }
}

/** What `work` comes to; undefined once it is aborted, whatever becomes of it then. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController();
  const aborted = once(signal, 'abort', { signal: ended.signal }).then(() => undefined);
  aborted.catch(() => undefined); // the end below
  try {
    return await Promise.race([work, aborted]);
  } finally {
    ended.abort();
  }
}

/** The cause that passes; undefined for one that ends a start. */
function judgeStart(thrown: unknown): Finding | undefined {
  if (thrown instanceof RedisUnreachableError) {
    const causes: Readonly<Record<string, 'waits' | 'ends'>> = START_CAUSES;
    return causes[thrown.code] === 'waits' ? error(thrown.code, thrown.message) : undefined;
  }
  // It went away while the process was opened.
  if (isRedisUnavailable(thrown)) return error('redis_away', sayRefusal(thrown as Error));
  return undefined;
}

/**
 * Why Redis kept a process from starting; undefined for another cause. Gives only the message of a refusal: the error
 * carries the command, and with it a script, a key's digest or an encrypted secret.
 */
export function explainStartFailure(error: unknown): string | undefined {
  if (error instanceof RedisUnreachableError) return error.message;
  if (!isRedisRefusal(error) && !(isErrorLike(error) && isRedisUnavailable(error))) return undefined;
  return `Redis failed this start (${sayRefusal(error)}); "herald doctor" says what to set.`;
}
