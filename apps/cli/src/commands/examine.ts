import { findPortClash, readApiConfig } from '@herald/config/api-config';
import { SecretsEnv } from '@herald/config/shared-env';
import { readWorkerConfig } from '@herald/config/worker-config';
import { ConfigError, readEnv } from '@herald/runtime/env';
import { isErrorLike } from '@herald/runtime/errors';
import type { Finding } from '@herald/runtime/finding';
import * as work from '@herald/store/operators/judge-work';
import { createKeyVersionStore } from '@herald/store/secrets/key-version-store';
import { createKeyspace } from '@herald/store/keys/keys';
import { findHistoryNotSet, historyAway } from '@herald/store/lists/history-mark';
import {
  createRedisProbe,
  createUntrustedProxyMark,
  PROXY_NOT_TRUSTED,
} from '@herald/store/operators/create-readiness';
import { type RedisClient, RedisUnreachableError } from '@herald/store/redis/connect-redis';
import {
  findShardCounts,
  type ShardCounts,
  judgeShards,
  createShardRecordStore,
} from '@herald/store/data/shard-record';
import { checkRedis } from '@herald/store/redis/check-redis';
import { describeMissingKey } from '@herald/store/secrets/reencrypt-secrets';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createLossMark, isUnrecorded, LOSS_KNOWN, findLayoutProblem } from '@herald/store/data/data-loss';
import type { CommandDeps } from '../context/command-deps.ts';
import { type Herald, readCliConfig } from '../context/open-herald.ts';
import { type Queues, readQueues } from './read-queues.ts';

type Examination = {
  readonly checks: readonly Check[];
  /** Parts that earlier errors make impossible to check. */
  readonly skipped: readonly Check['name'][];
};

const OF_REDIS: readonly Check['name'][] = ['redis', 'shards', 'secrets', 'proxy', 'history', 'workers', 'work'];

/** Checks every part that can be checked: errors in one part don't hide those of another. */
export async function examine(
  { serviceEnv, openHerald }: Pick<CommandDeps, 'serviceEnv' | 'openHerald'>,
  processes: readonly Process[],
): Promise<Examination> {
  const env = serviceEnv();
  const configuration = checkConfiguration(env, processes);
  // Without the address of Redis or SHARDS, its data means nothing.
  if (!tryRead(() => readCliConfig(env))) return { checks: [configuration], skipped: OF_REDIS };
  const keys = tryRead(() => readEnv(SecretsEnv, env))?.SECRETS_KEY;
  try {
    await using herald = await openHerald({ anyShards: true, anyRedis: true });
    const { checks, skipped } = await examineRedis(herald, keys ? { keys } : {});
    return { checks: [configuration, ...checks], skipped };
  } catch (thrown) {
    if (!(thrown instanceof RedisUnreachableError)) throw thrown;
    const unreachable: Check = { name: 'redis', findings: [error(thrown.code, thrown.message)], well: '' };
    return { checks: [configuration, unreachable], skipped: OF_REDIS.slice(1) };
  }
}

type Known = {
  /** Absent: the secrets can't be checked. */
  readonly keys?: SecretsKeys;
  /** Absent: they are read. */
  readonly queues?: Queues;
};

/** What is wrong with what the environment leads to, for whoever tells it. */
export async function examineRedis(herald: Herald, { keys, ...known }: Known): Promise<Examination> {
  const server = await checkServer(herald);
  try {
    const counts = await findShardCounts(herald.redis);
    const shards = await checkShards(herald, counts);
    const queues = known.queues ?? (await readQueues(herald));
    const secrets = keys ? [await checkSecrets(herald.redis, keys, counts)] : [];
    const checks: Check[] = [
      server,
      shards,
      ...secrets,
      await checkProxy(herald),
      await checkHistory(herald),
      { name: 'workers', findings: judgeWorkers(queues), well: `${queues.workers} seen lately` },
      { name: 'work', findings: judgeWork(queues), well: 'nothing is stuck, nothing failed lately' },
    ];
    return { checks, skipped: keys ? [] : ['secrets'] };
  } catch (thrown) {
    // A Redis that is too old, or refuses a command, is reported already.
    if (!server.findings.some(({ level }) => level === 'error')) throw thrown;
    return { checks: [server], skipped: OF_REDIS.slice(1) };
  }
}

/** Undefined when the environment can't be read: the check of the configuration reports that. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

const READ = { api: readApiConfig, worker: readWorkerConfig };
export type Process = keyof typeof READ;
export const PROCESSES: readonly Process[] = ['api', 'worker'];

const warning = (code: string, sentence: string): Finding => ({ level: 'warning', code, sentence });

const BY_SYSTEM = warning(
  'system_look_ups',
  'EGRESS_DNS is system: look-ups of the system share four threads, and a few slow domains hold up all others; ' +
    'leave it out unless names are in a hosts file (worker)',
);

/** Reads the environment as each process does when it starts; a problem of both is reported once. */
export function checkConfiguration(env: NodeJS.ProcessEnv, processes: readonly Process[]): Check {
  const found = processes.flatMap((process) => findProblems(process, env).map((problem) => ({ process, problem })));
  const findings = [...Map.groupBy(found, ({ problem }) => problem)].map(([problem, those]) =>
    error('configuration', `${problem} (${those.map(({ process }) => process).join(' and ')})`),
  );
  if (found.length === 0 && PROCESSES.every((each) => processes.includes(each))) {
    const clash = findPortClash(readApiConfig(env), readWorkerConfig(env));
    if (clash !== undefined) findings.push(error('configuration', `${clash} (api and worker)`));
  }
  if (processes.includes('worker') && env.EGRESS_DNS === 'system') findings.push(BY_SYSTEM);
  return { name: 'configuration', findings, well: `every variable of ${processes.join(' and ')} can be read` };
}

function findProblems(process: Process, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    READ[process](env);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
}

/** Checks the server as processes do when they start and for their readiness. */
async function checkServer({ config, redis }: Herald): Promise<Check> {
  const { redis: target, minReplicas, shardCount } = config;
  const settings = await checkRedis(redis, { target, minReplicas, shardCount, wallClock: Date.now });
  // The probe would only report an error of the settings again, in vaguer words.
  const probe = settings.some(({ level }) => level === 'error') ? [] : await createRedisProbe(redis)();
  const known = new Set(settings.map(({ code }) => code));
  // A start may go on where a running process isn't ready: on a Redis that is full and has data.
  const isError = ({ code }: Finding) => probe.some((each) => each.code === code && each.level === 'error');
  const worst = settings.map((each) => (isError(each) ? { ...each, level: 'error' as const } : each));
  return {
    name: 'redis',
    findings: [...worst, ...probe.filter(({ code }) => !known.has(code))],
    well: 'it takes writes, keeps them on disk and throws nothing away; versions and clocks agree',
  };
}

async function checkShards({ redis, config }: Herald, counts: ShardCounts): Promise<Check> {
  const [record, isLost] = await Promise.all([createShardRecordStore(redis).read(), createLossMark(redis).isThere()]);
  const layoutProblem = await findLayoutProblem(redis, record);
  const found = [...judgeShards({ record, counts }, config.shardCount), ...(layoutProblem ? [layoutProblem] : [])];
  return {
    name: 'shards',
    findings: isLost && isUnrecorded(record) ? [LOSS_KNOWN] : found,
    well:
      counts.sampled === 0 ? 'there is no data yet' : `the data lies where SHARDS=${config.shardCount} looks for it`,
  };
}

/** Whether an API that trusts no proxy has got requests through one lately. The APIs note it. */
async function checkProxy({ redis }: Pick<Herald, 'redis'>): Promise<Check> {
  const isNoted = await createUntrustedProxyMark(redis).isThere();
  return {
    name: 'proxy',
    findings: isNoted ? [PROXY_NOT_TRUSTED] : [],
    well: 'no request came lately through a proxy that TRUST_PROXY leaves out',
  };
}

type SecretsKeys = Parameters<typeof createSecretCipher>[0];

/** Checks that SECRETS_KEY has every key that secrets are encrypted with, in all existing shards. */
async function checkSecrets(redis: RedisClient, keys: SecretsKeys, { started }: ShardCounts): Promise<Check> {
  const { fingerprints } = createSecretCipher(keys);
  const keyVersions = await createKeyVersionStore({ redis, keyspace: createKeyspace(Math.max(started, 1)) }).list();
  // The last entry of a key wins: that of the shard with most of its secrets.
  const ascending = keyVersions.toSorted((a, b) => a.count - b.count);
  const byFingerprint = new Map(ascending.map((keyVersion) => [keyVersion.fingerprint, keyVersion]));
  const missing = [...byFingerprint.values()].filter(({ fingerprint }) => !fingerprints.includes(fingerprint));
  return {
    name: 'secrets',
    findings: missing.map((keyVersion) => error('secrets_key_unlisted', describeMissingKey(keyVersion))),
    well:
      byFingerprint.size === 0
        ? 'there is no secret yet'
        : `SECRETS_KEY decrypts every secret (${[...byFingerprint.keys()].join(', ')})`,
  };
}

const LIMITS = { statementLimitMs: 5_000, connectLimitMs: 2_000 };

const FOR_READERS = /[?&]target_session_attrs=(?:standby|prefer-standby|read-only)(?:&|$)/;

/** Whether the history is there, is that of this data, takes what settles, and drops its days. It changes nothing. */
async function checkHistory({ config, historyMark, readHistoryUser, now }: Herald): Promise<Check> {
  const name = 'history';
  if (!config.history) {
    const missing = await findHistoryNotSet(historyMark);
    return { name, findings: missing ? [missing] : [], well: 'there is none: what settled expires after RETENTION' };
  }
  const { createHistoryPool } = await import('@herald/history/pool/create-history-pool');
  const { demandWritable, prepareHistory, readHistoryStatus } =
    await import('@herald/history/requirements/prepare-history');
  const { url, retentionMs } = config.history;
  const options = { url, name: 'herald-doctor', connections: 1, ...LIMITS };
  const pool = createHistoryPool({ ...options, onError: () => undefined });
  try {
    await prepareHistory(pool, 'read', await readHistoryUser());
    // Workers need it, also where the doctor has the url of an API that only reads: unless that asks for such a server.
    if (!FOR_READERS.test(url)) await demandWritable(pool);
    const { overdue } = await readHistoryStatus(pool, now() - retentionMs);
    const stays = warning(
      'history_days_stay',
      `HISTORY_RETENTION has ended, and they are still there: ${overdue.join(', ')}; end whoever reads them, see history.days_stay in the log of the workers`,
    );
    return { name, findings: overdue.length > 0 ? [stays] : [], well: 'it can be read, and is that of this data' };
  } catch (thrown) {
    const reason = isErrorLike(thrown) ? thrown.message : String(thrown);
    return { name, findings: [historyAway({ reason })], well: '' };
  } finally {
    await pool.end();
  }
}

/** The result for one part of the set-up. */
export type Check = {
  readonly name: 'configuration' | 'redis' | 'shards' | 'secrets' | 'proxy' | 'history' | 'workers' | 'work';
  readonly findings: readonly Finding[];
  /** The sentence without findings. */
  readonly well: string;
};

const error = (code: string, sentence: string): Finding => ({ level: 'error', code, sentence });

export function judgeWorkers(queues: Queues): Finding[] {
  return work.judgeWorkers(toPendingWork(queues)).map(work.toFinding);
}

export function judgeWork(queues: Queues): Finding[] {
  return work.judgeWork(toPendingWork(queues)).map(work.toFinding);
}

function toPendingWork({ workers, queues, receivers, failedLately }: Queues): work.PendingWork {
  const countIn = (wanted: 'breaker_open' | 'stopped') => {
    const found = receivers.filter(({ state }) => state === wanted);
    return { receivers: found.length, deliveries: found.reduce((sum, each) => sum + each.deliveries, 0) };
  };
  return { workers, queues, unanswered: countIn('breaker_open'), stopped: countIn('stopped'), failedLately };
}
