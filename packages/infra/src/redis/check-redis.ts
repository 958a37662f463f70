import type { Finding } from '../health/finding.ts';
import { answerWithin } from '../lifecycle/answer-within.ts';
import { mastersOf, type RedisClient } from './connect-redis.ts';
import { judgeEviction } from './judge-eviction.ts';
import { readInfo, readSetting } from './read-info.ts';

export type CheckRedisOptions = {
  /** Whether this process speaks the cluster protocol. */
  readonly isClusterExpected: boolean;
  /** Replicas that must confirm a write; 0: none. */
  readonly minReplicas: number;
  /** Epoch ms. */
  readonly now: () => number;
};

/** `PEXPIRE … NX`, `ZADD … LT` and `ZRANGE … BYSCORE`: the newest that the scripts use came with 7.0. Valkey began at 7.2. */
const MINIMUM = { major: 7, text: '7.0' };
const CLOCK_TOLERANCE_MS = 1_000;
const ANSWER_LIMIT_MS = 2_000;

/**
 * Finds what is wrong with the Redis that we were given, before it hurts. Where Redis may not be asked, that is a finding
 * too. Throws only when Redis itself can't be reached.
 */
export async function checkRedis(redis: RedisClient, options: CheckRedisOptions): Promise<readonly Finding[]> {
  const checks = mastersOf(redis).flatMap((master) => [
    checkVersion(master),
    checkPersistence(master),
    checkMemory(master),
    checkClock(master, options.now),
    checkCluster(master, options.isClusterExpected),
    ...(options.minReplicas > 0 ? [checkReplicas(master, options.minReplicas)] : []),
  ]);
  const overdue = () => [
    warning('redis_slow', `Redis didn't answer the start-up checks within ${ANSWER_LIMIT_MS / 1_000} s`),
  ];
  return await answerWithin(
    ANSWER_LIMIT_MS,
    Promise.all(checks).then((found) => distinct(found.flat())),
    overdue,
  );
}

async function checkVersion(redis: RedisClient): Promise<Finding[]> {
  const version = (await readInfo(redis, 'server'))?.get('redis_version');
  if (version === undefined) return [cannotTell('version', 'INFO server')];
  if (Number.parseInt(version, 10) >= MINIMUM.major) return [];
  return [
    error(
      'redis_too_old',
      `Redis ${version} lacks commands that Herald needs; run ${MINIMUM.text} or later, or Valkey`,
    ),
  ];
}

async function checkPersistence(redis: RedisClient): Promise<Finding[]> {
  const aof = (await readInfo(redis, 'persistence'))?.get('aof_enabled');
  if (aof === '1') return [];
  if (aof === undefined) return [cannotTell('persistence', 'INFO persistence')];
  const snapshots = await readSetting(redis, 'save');
  if (snapshots === undefined) return [cannotTell('persistence', 'CONFIG GET save'), aofOff('The AOF is off')];
  if (snapshots !== '') return [aofOff(`Redis keeps snapshots alone (save ${snapshots})`)];
  return [
    warning(
      'persistence_off',
      'Redis keeps nothing on disk: a restart of it loses every accepted transition; set appendonly yes and appendfsync everysec',
    ),
  ];
}

function aofOff(fact: string): Finding {
  return warning('aof_off', `${fact}: a crash of Redis loses minutes; set appendonly yes and appendfsync everysec`);
}

async function checkMemory(redis: RedisClient): Promise<Finding[]> {
  const memory = await readInfo(redis, 'memory');
  if (!memory) return [cannotTell('memory', 'INFO memory')];
  const found = judgeEviction(memory);
  if (memory.get('maxmemory') !== '0') return found;
  return [
    ...found,
    warning(
      'maxmemory_unset',
      'Redis has no memory limit: full, it is killed by the system instead of refusing writes; set maxmemory below what the machine has',
    ),
  ];
}

async function checkClock(redis: RedisClient, now: () => number): Promise<Finding[]> {
  const before = now();
  const [seconds, micros] = await redis.time();
  const here = (before + now()) / 2;
  const offMs = Math.round(Number(seconds) * 1_000 + Number(micros) / 1_000 - here);
  if (Math.abs(offMs) <= CLOCK_TOLERANCE_MS) return [];
  return [
    warning(
      'clock_off',
      `this machine's clock and that of Redis differ by ${Math.abs(offMs)} ms; let both follow a time server (NTP), or retries and leases come early or late`,
    ),
  ];
}

async function checkReplicas(redis: RedisClient, minReplicas: number): Promise<Finding[]> {
  const connected = (await readInfo(redis, 'replication'))?.get('connected_slaves');
  if (connected === undefined) return [cannotTell('replication', 'INFO replication')];
  if (Number(connected) >= minReplicas) return [];
  return [
    warning(
      'replicas_missing',
      `a master of Redis has ${connected} replicas and REDIS_MIN_REPLICAS asks for ${minReplicas}: until more come, no change is acknowledged; start them, or lower it`,
    ),
  ];
}

async function checkCluster(redis: RedisClient, isExpected: boolean): Promise<Finding[]> {
  const enabled = (await readInfo(redis, 'cluster'))?.get('cluster_enabled');
  if (enabled === undefined) return [cannotTell('cluster', 'INFO cluster')];
  if ((enabled === '1') === isExpected) return [];
  return [
    isExpected
      ? error('cluster_missing', 'Redis is no cluster; set REDIS_URL instead of REDIS_CLUSTER_NODES')
      : error('cluster_unexpected', 'Redis is a cluster; set REDIS_CLUSTER_NODES instead of REDIS_URL'),
  ];
}

/** What holds for every master is said once. */
function distinct(found: readonly Finding[]): Finding[] {
  return [...new Map(found.map((finding) => [finding.sentence, finding])).values()];
}

function cannotTell(what: string, command: string): Finding {
  return warning(
    `${what}_unknown`,
    `Redis refuses ${command}, so its ${what} can't be checked; allow the command, or see to it yourself`,
  );
}

function warning(code: string, sentence: string): Finding {
  return { level: 'warning', code, sentence };
}

function error(code: string, sentence: string): Finding {
  return { level: 'error', code, sentence };
}
