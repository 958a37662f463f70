import { ConfigError, readEnv } from '@herald/runtime/env/env';
import { findShardCounts } from '@herald/store/redis/find-shard-counts';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { SecretsEnv } from '@herald/config/shared-env';
import type { CommandDeps } from '../context/command-deps.ts';
import { readCliConfig, type Herald } from '../context/open-herald.ts';
import { checkHistory } from './check-history.ts';
import { readQueues, type Queues } from '../work/read-queues.ts';
import { error, type Check } from './check.ts';
import { checkConfiguration, type Process } from './check-configuration.ts';
import { checkProxy, checkSecrets, checkServer, checkShards, type SecretsKeys } from './check-redis.ts';
import { judgeWork, judgeWorkers } from '../work/judge-work.ts';

export type Examination = {
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

export type Known = {
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
