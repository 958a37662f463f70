import { answerWithin, oneAtATime, rememberFor } from '@herald/runtime/async';
import { isErrorLike } from '@herald/runtime/errors';
import { error, warning, type Finding } from '@herald/runtime/finding';
import { judgeWorkers, toFinding } from './judge-work.ts';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import { checkPersistence, checkRole, judgeMemory } from '../redis/check-master.ts';
import { checkPermissions } from '../redis/check-permissions.ts';
import { judgeSkew } from '../redis/clock.ts';
import { hasLeftReplica, mastersOf, SILENCE_KNOWN_MS, type RedisClient } from '../redis/connect-redis.ts';
import { readMemory } from '../redis/read-info.ts';
import { refusalOf, type Refusal } from '../redis/refusal.ts';

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

type ReadinessDeps = {
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
/**
 * A probe gets an answer within this time, whatever hangs, in ms. It must not know of a silence before the heartbeat
 * does: who has been told of it is refused at once.
 */
const ANSWER_LIMIT_MS = SILENCE_KNOWN_MS + 250;

const AWAY = unavailable(
  'redis_away',
  'the connection to Redis is down, and nothing can be accepted or sent: start Redis, or mend the network; "herald doctor" says what is wrong with it',
);
const HANGS = unavailable(
  'redis_hangs',
  'Redis gives no answer, though the connection is there, and nothing can be accepted or sent: see what keeps it busy ("redis-cli slowlog get")',
);
const IS_REPLICA = "Redis is a replica, and what is written to it doesn't last; connect to its master";
const REPLICA = unavailable('redis_replica', IS_REPLICA);

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
    if (redis.status !== 'ready') return hasLeftReplica(redis) ? REPLICA : AWAY;
    return isSilent() ? HANGS : lookWithin();
  };
}

function unavailable(code: string, sentence: string): Readiness {
  return { status: 'unavailable', problems: [error(code, sentence)], warnings: [], workers: null };
}

/** The probe's key expires after this, in ms. */
const MARK_TTL_MS = 60_000;

/** Sentences for the open page: they name neither users nor addresses. */
const SENTENCES: Readonly<Record<string, string>> = {
  redis_replica: IS_REPLICA,
  redis_not_permitted: 'Redis refuses commands, keys or channels that are needed (NOPERM); "herald doctor" names them',
  redis_command_missing: 'Redis has no longer all commands that are needed; "herald doctor" names them',
};

/** Finds what a crash of Redis would lose. What a server doesn't tell, it never does: only a start says so. */
async function findPersistenceWarnings(redis: RedisClient): Promise<readonly Finding[]> {
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
      return [judgeRefusal(thrown, hasLeftReplica(redis)), ...(await memories.catch(() => []))];
    }
  };
}

/** By the names that `herald doctor` has for them. */
const OBSTACLES: Partial<Record<Refusal, string>> = {
  replica: 'redis_replica',
  not_permitted: 'redis_not_permitted',
  unknown_command: 'redis_command_missing',
};

function judgeRefusal(thrown: unknown, isOfReplica: boolean): Finding {
  const refusal = isOfReplica ? 'replica' : refusalOf(thrown);
  const code = refusal && OBSTACLES[refusal];
  if (code !== undefined) return obstacle(code);
  return error('redis_refuses_writes', `Redis didn't take a write (${whyInOneWord(thrown)}); its log says more`);
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
  return [...codes].map(obstacle);
}

function obstacle(code: string): Finding {
  return error(code, SENTENCES[code] ?? 'Redis can not be used');
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

/** How long the finding stays after the last request that shows it, in ms. */
export const UNTRUSTED_PROXY_KEPT_MS = 300_000;

/** The page is open to everybody: the sentence names no address. */
export const PROXY_NOT_TRUSTED = warning(
  'proxy_not_trusted',
  'requests come with X-Forwarded-For or Forwarded, and TRUST_PROXY is 0: all callers behind a proxy share its address, ' +
    'and with it the limits of wrong keys and sign-ins; set TRUST_PROXY to the number of your proxies that add to ' +
    'X-Forwarded-For, or, if there is none in front, let nobody reach the port who sends such headers',
);

/** Set by APIs that get such requests, for `herald doctor`. Expires some minutes after the last of them. */
export function createUntrustedProxyMark(redis: RedisClient) {
  const key = GLOBAL_KEYS.untrustedProxy;
  return {
    async set(): Promise<void> {
      await redis.set(key, '1', 'PX', UNTRUSTED_PROXY_KEPT_MS);
    },
    isThere: async () => (await redis.exists(key)) === 1,
  };
}
export type UntrustedProxyMark = ReturnType<typeof createUntrustedProxyMark>;
