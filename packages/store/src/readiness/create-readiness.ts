import { judgeSkew } from '../clock/judge-skew.ts';
import { answerWithin } from '@herald/runtime/async/answer-within';
import { rememberFor } from '@herald/runtime/async/remember-for';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createRedisProbe } from './create-redis-probe.ts';
import type { Finding } from '@herald/runtime/findings/finding';

/** Whether a process can do its work now. */
export type Readiness = {
  readonly status: 'ok' | 'unavailable';
  /** Why not. */
  readonly problems: readonly Finding[];
  /** What somebody should look at, though it works. */
  readonly warnings: readonly Finding[];
  /** Workers seen lately; null when that can't be told. */
  readonly workers: number | null;
};

export type ReadinessDeps = {
  readonly redis: RedisClient;
  readonly countWorkers: () => Promise<number>;
  /** Redis owes an answer for longer than it should. No I/O. */
  readonly isSilent: () => boolean;
  /** How far this machine's clock is ahead of Redis' time, in ms. */
  readonly skewMs: () => number;
  /** What else keeps this process from its work. */
  readonly findProblem: () => Finding | undefined;
};

/** However many probe, Redis is asked at most so often, in ms. */
const REMEMBERED_MS = 1_000;
/** Whoever probes gets an answer within this time, whatever hangs, in ms. */
const ANSWER_LIMIT_MS = 1_750;

/**
 * Finds out whether a process is ready. Missing workers are reported, and don't fail it. Never rejects, never hangs, and
 * asks for nothing more while an earlier question hangs.
 */
export function createReadiness({
  redis,
  countWorkers,
  isSilent,
  skewMs,
  findProblem,
}: ReadinessDeps): () => Promise<Readiness> {
  const probeRedis = createRedisProbe(redis);
  let asked: Promise<Readiness> | undefined;
  const look = async (): Promise<Readiness> => {
    const [found, workers] = await Promise.all([probeRedis(), countWorkers().catch(() => null)]);
    const own = findProblem();
    const problems = own ? [...found, own] : found;
    const warnings = [...(workers === 0 ? [NO_WORKER] : []), ...judgeSkew(skewMs())];
    return { status: problems.length === 0 ? 'ok' : 'unavailable', problems, warnings, workers };
  };
  const lookWithin = rememberFor(REMEMBERED_MS, () => {
    asked ??= look().finally(() => {
      asked = undefined;
    });
    return answerWithin(ANSWER_LIMIT_MS, asked, () => HANGS);
  });
  // Whether there is a connection, and whether it answers, costs nothing to see: nobody is told what was so before.
  return async () => {
    if (redis.status !== 'ready') return AWAY;
    return isSilent() ? HANGS : lookWithin();
  };
}

const NO_WORKER: Finding = {
  level: 'warning',
  code: 'no_worker',
  sentence: 'no worker was seen lately: transitions are accepted, and nothing is sent; start one',
};

const AWAY = unavailable('redis_away', 'the connection to Redis is down');
const HANGS = unavailable('redis_hangs', 'Redis gives no answer, though the connection is there');

function unavailable(code: string, sentence: string): Readiness {
  return { status: 'unavailable', problems: [{ level: 'error', code, sentence }], warnings: [], workers: null };
}
