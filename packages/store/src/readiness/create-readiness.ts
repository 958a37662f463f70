import { answerWithin } from '@herald/runtime/async/answer-within';
import { oneAtATime } from '@herald/runtime/async/one-at-a-time';
import { rememberFor } from '@herald/runtime/async/remember-for';
import { error, type Finding } from '@herald/runtime/findings/finding';
import { judgeWorkers, toFinding } from '../backlog/judge-work.ts';
import { judgeSkew } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createRedisProbe, findPersistenceWarnings } from './create-redis-probe.ts';

/** Whether a process can do its work now. */
export type Readiness = {
  readonly status: 'ok' | 'unavailable';
  /** Why not. */
  readonly problems: readonly Finding[];
  /** What needs attention, though the process works. */
  readonly warnings: readonly Finding[];
  /** Workers seen lately; null when unknown. */
  readonly workers: number | null;
};

export type ReadinessDeps = {
  readonly redis: RedisClient;
  readonly countWorkers: () => Promise<number>;
  /** Redis owes an answer for too long. No I/O. */
  readonly isSilent: () => boolean;
  /** How far this machine's clock is ahead of Redis' time, in ms. */
  readonly skewMs: () => number;
  /** What else keeps this process from its work. */
  readonly findProblem: () => Finding | undefined;
  /** What else needs attention. Default: nothing does. */
  readonly findWarnings?: () => Promise<readonly Finding[]>;
};

/** However many probes come, Redis is asked at most once in this time, in ms. */
const REMEMBERED_MS = 1_000;
/** A probe gets an answer within this time, whatever hangs, in ms. */
const ANSWER_LIMIT_MS = 1_750;

const AWAY = unavailable(
  'redis_away',
  'the connection to Redis is down, and nothing can be accepted or sent: start Redis, or mend the network; "herald doctor" says what is wrong with it',
);
const HANGS = unavailable(
  'redis_hangs',
  'Redis gives no answer, though the connection is there, and nothing can be accepted or sent: see what keeps it busy ("redis-cli slowlog get")',
);

/**
 * Finds whether a process is ready. Missing workers are reported, but don't make it unready. Never rejects, never
 * hangs, and asks nothing more while an earlier question hangs.
 */
export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  const { redis, countWorkers, isSilent, skewMs, findProblem, findWarnings } = deps;
  const probeRedis = createRedisProbe(redis);
  const look = oneAtATime(async (): Promise<Readiness> => {
    const [found, workers, persistence, further] = await Promise.all([
      probeRedis(),
      countWorkers().catch(() => null),
      findPersistenceWarnings(redis).catch(() => []), // the probe says why
      findWarnings?.() ?? [],
    ]);
    const own = findProblem();
    const problems = [...found.filter(({ level }) => level === 'error'), ...(own ? [own] : [])];
    const noticed = found.filter(({ level }) => level !== 'error');
    const warnings = [
      ...noticed,
      ...(workers === null ? [] : judgeWorkers({ workers, queues: [] }).map(toFinding)),
      ...persistence,
      ...judgeSkew(skewMs()),
      ...further,
    ];
    return { status: problems.length === 0 ? 'ok' : 'unavailable', problems, warnings, workers };
  });
  const lookWithin = rememberFor(REMEMBERED_MS, () => answerWithin(ANSWER_LIMIT_MS, look(), () => HANGS));
  // Whether there is a connection, and whether it answers, costs nothing to see, and is never remembered.
  return async () => {
    if (redis.status !== 'ready') return AWAY;
    return isSilent() ? HANGS : lookWithin();
  };
}

function unavailable(code: string, sentence: string): Readiness {
  return { status: 'unavailable', problems: [error(code, sentence)], warnings: [], workers: null };
}
