import { answerWithin } from '@herald/runtime/async';
import { error, warning, type Finding } from '@herald/runtime/finding';
import type { Logger } from '@herald/runtime/log';
import type { Redis } from 'ioredis';
import { GLOBAL_KEYS, SHARD_TAGS } from '../keys/keys.ts';
import { cannotTell, checkPersistence, checkRole, judgeMemory } from './check-master.ts';
import { checkPermissions } from './check-permissions.ts';
import { judgeSkew } from './clock.ts';
import { mastersOf, RedisUnreachableError, type RedisClient } from './connect-redis.ts';
import { readInfo, readMemory } from './read-info.ts';
import { describeTarget, userOf, type RedisTarget } from './redis-target.ts';
import { refusalOf, type Refusal } from './refusal.ts';
import { defineScript } from './script.ts';

const ACCESS_LIMIT_MS = 5_000;

/**
 * Refuses to start a process on a Redis that lacks what Herald needs. Call it before anything is written.
 * @returns warnings, which stop no process
 * @throws RedisUnreachableError with one sentence, which says what to set
 */
export async function demandUsableRedis(redis: RedisClient, options: CheckRedisOptions): Promise<readonly Finding[]> {
  const found = await checkRedis(redis, options);
  refuseErrors(found, options);
  return found;
}

/**
 * The same for a command that only reads: it works on a Redis that is full or evicts, so that operators can look at it.
 * @throws RedisUnreachableError with one sentence, which says what to set
 */
export async function demandAccess(redis: RedisClient, options: CheckAccessOptions): Promise<void> {
  refuseErrors(await answerWithin(ACCESS_LIMIT_MS, checkAccess(redis, options), () => []), options);
}

/** Logs the warnings of `demandUsableRedis`. */
export function logRedisFindings(logger: Logger, findings: readonly Finding[]): void {
  for (const { code, sentence } of findings) logger.warn('redis.finding', { code, sentence });
}

function refuseErrors(found: readonly Finding[], { target }: CheckAccessOptions): void {
  const error = found.find(({ level }) => level === 'error');
  if (!error) return;
  throw new RedisUnreachableError(`${describeTarget(target)} can't be used: ${error.sentence}.`, error.code);
}

type CheckAccessOptions = {
  readonly target: RedisTarget;
  /** Replicas that must have a write before it is acknowledged; 0: none. */
  readonly minReplicas: number;
  readonly shardCount: number;
};

export type CheckRedisOptions = CheckAccessOptions & {
  /** This machine's clock, epoch ms. */
  readonly wallClock: () => number;
};

/** The codes of its errors. */
export type CheckErrorCode =
  | 'redis_is_sentinel'
  | 'redis_too_old'
  | 'cluster_missing'
  | 'cluster_unexpected'
  | 'redis_replica'
  | 'redis_not_permitted'
  | 'redis_command_missing'
  | 'redis_refuses_writes'
  | 'eviction_policy';

type Check = (master: Redis) => Promise<Finding[]>;

/** The scripts need 7.0 for `PEXPIRE … NX`, `ZADD … LT` and `ZRANGE … BYSCORE`. Valkey began at 7.2. */
const MINIMUM = { major: 7, text: '7.0' };
const ANSWER_LIMIT_MS = 2_000;

/**
 * Finds what is wrong with a Redis before it hurts. An error means that Herald can't work with it, and hides later
 * findings. A refused question is a finding, too. Writes a key, and deletes it. Throws only when Redis can't be
 * reached.
 */
export async function checkRedis(redis: RedisClient, options: CheckRedisOptions): Promise<readonly Finding[]> {
  const sentence = `Redis didn't answer the start-up checks within ${ANSWER_LIMIT_MS / 1_000} s`;
  return await answerWithin(ANSWER_LIMIT_MS, checkAll(redis, options), () => [warning('redis_slow', sentence)]);
}

async function checkAll(redis: RedisClient, options: CheckRedisOptions): Promise<Finding[]> {
  const { shardCount, minReplicas, wallClock } = options;
  const access = await checkAccess(redis, options);
  if (access.some(isError)) return access;
  const writes = await checkWrites(redis, shardCount);
  const checks: Check[] = [checkPersistence, checkMemory, (master) => checkClock(master, wallClock)];
  if (minReplicas > 0) checks.push((master) => checkReplicas(master, minReplicas));
  return distinct([...access, ...(await checkMasters(redis, checks)), ...writes]);
}

/** The part of `checkRedis` that even a command that only reads needs. Writes nothing. */
export async function checkAccess(
  redis: RedisClient,
  { target, minReplicas, shardCount }: CheckAccessOptions,
): Promise<Finding[]> {
  const checkMode: Check = (master) => checkCluster(master, target.kind === 'cluster');
  const kind = await checkMasters(redis, [checkVersion, checkMode, checkRole]);
  if (kind.some(isError)) return distinct(kind);
  const user = userOf(target);
  const checkUser: Check = (master) => checkPermissions(master, { user, shardCount, waits: minReplicas > 0 });
  const permissions = await checkMasters(redis, [checkUser]);
  // A user without permissions gets one finding, not one more for each refused question.
  const isTold = permissions.some(({ code }) => code === 'redis_not_permitted');
  return distinct([...(isTold ? [] : kind), ...permissions]);
}

/** Findings in the order of the checks. */
async function checkMasters(redis: RedisClient, checks: readonly Check[]): Promise<Finding[]> {
  const masters = mastersOf(redis);
  const found = await Promise.all(checks.flatMap((check) => masters.map((master) => check(master))));
  return found.flat();
}

async function checkVersion(redis: Redis): Promise<Finding[]> {
  const server = await readInfo(redis, 'server');
  if (server?.get('redis_mode') === 'sentinel') {
    const sentence =
      'it is a Sentinel, which holds no data; set REDIS_SENTINELS to its address, and REDIS_SENTINEL_MASTER to the name of the master that it watches, instead of REDIS_URL';
    return [error('redis_is_sentinel', sentence)];
  }
  const version = server?.get('redis_version');
  if (version === undefined) return [cannotTell('version', 'INFO server')];
  if (Number.parseInt(version, 10) >= MINIMUM.major) return [];
  const sentence = `Redis ${version} lacks commands that Herald needs; run ${MINIMUM.text} or later, or Valkey`;
  return [error('redis_too_old', sentence)];
}

async function checkMemory(redis: Redis): Promise<Finding[]> {
  const [memory] = await readMemory(redis);
  if (!memory) return [cannotTell('memory', 'INFO memory')];
  return judgeMemory(memory);
}

async function checkClock(redis: Redis, wallClock: () => number): Promise<Finding[]> {
  const before = wallClock();
  const [seconds, micros] = await redis.time();
  const here = (before + wallClock()) / 2;
  return judgeSkew(Math.round(here - (Number(seconds) * 1_000 + Number(micros) / 1_000)));
}

async function checkReplicas(redis: Redis, minReplicas: number): Promise<Finding[]> {
  const connected = (await readInfo(redis, 'replication'))?.get('connected_slaves');
  if (connected === undefined) return [cannotTell('replication', 'INFO replication')];
  if (Number(connected) >= minReplicas) return [];
  const sentence = `a master of Redis has ${connected} replicas and REDIS_MIN_REPLICAS asks for ${minReplicas}: until more come, no change is acknowledged; start them, or lower it`;
  return [warning('replicas_missing', sentence)];
}

async function checkCluster(redis: Redis, isExpected: boolean): Promise<Finding[]> {
  const enabled = (await readInfo(redis, 'cluster'))?.get('cluster_enabled');
  if (enabled === undefined) return [cannotTell('cluster', 'INFO cluster')];
  if ((enabled === '1') === isExpected) return [];
  if (isExpected)
    return [error('cluster_missing', 'Redis is no cluster; set REDIS_URL instead of REDIS_CLUSTER_NODES')];
  return [error('cluster_unexpected', 'Redis is a cluster; set REDIS_CLUSTER_NODES instead of REDIS_URL')];
}

function isError({ level }: Finding): boolean {
  return level === 'error';
}

/** Drops repetitions, since several masters often have the same problem. */
function distinct(found: readonly Finding[]): Finding[] {
  return [...new Map(found.map((finding) => [finding.sentence, finding])).values()];
}

const WRITE_LUA = /* lua */ `
-- Write as the scripts of Herald do, and leave nothing.
-- KEYS[1] a key of this script alone
-- Returns 'written'.
redis.call('SET', KEYS[1], '1', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 'written'
`;

const SENTENCES: Partial<Record<Refusal, string>> = {
  full: 'Redis is full and refuses writes (OOM); raise maxmemory, or purge what "herald queues --by-workspace" shows',
  disk: "Redis can't save its data, and refuses writes until it can (MISCONF); make room on its disk or give it a folder that it may write to, as its log says",
  few_replicas:
    'Redis has fewer replicas than its min-replicas-to-write and refuses writes (NOREPLICAS); start them, or lower min-replicas-to-write',
  replica:
    'Redis is a replica and refuses writes (READONLY); set REDIS_URL to its master, or make it one with REPLICAOF NO ONE',
  loading: 'Redis is loading its data (LOADING); start this again when it is done',
  cluster_down:
    'The cluster is down (CLUSTERDOWN), because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says',
};

/** Whether every slot in which Herald has keys takes writes now. Throws only when Redis can't be reached. */
export async function checkWrites(redis: RedisClient, shardCount: number): Promise<Finding[]> {
  const write = defineScript(redis, WRITE_LUA);
  const keys = [GLOBAL_KEYS.probe, ...SHARD_TAGS.slice(0, shardCount).map((tag) => `{${tag}}:probe`)];
  const found = await Promise.all(
    keys.map(async (key) => {
      try {
        await write([key], []);
        return [];
      } catch (thrown) {
        const refusal = refusalOf(thrown);
        const sentence = refusal && SENTENCES[refusal];
        if (sentence === undefined) throw thrown;
        // What ends or frees something goes on when Redis is full, so a process may start; but not begin.
        const isUsable = refusal === 'full' && (await redis.exists(GLOBAL_KEYS.shards)) === 1;
        return [(isUsable ? warning : error)('redis_refuses_writes', sentence)];
      }
    }),
  );
  return found.flat();
}
