import { ConfigError, readEnv } from '@herald/runtime/env/env';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createShardRecordStore } from '@herald/store/shards/shard-record';
import { findLayoutProblem } from '@herald/store/upgrade/find-layout-problem';
import { findShardCounts } from '@herald/store/redis/find-shard-counts';
import { createLossMark, isUnrecorded, LOSS_KNOWN } from '@herald/store/shards/data-loss';
import { judgeShards } from '@herald/store/shards/judge-shards';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { SecretsEnv } from '@herald/config/shared-env';
import { readCliConfig } from '../context/config.ts';
import type { Herald, WithHerald } from '../context/open-herald.ts';
import { readQueues } from '../queues/read-queues.ts';
import { error, type Check } from './check.ts';
import { checkConfiguration, type Process } from './check-configuration.ts';
import { checkRedisServer } from './check-redis-server.ts';
import { checkSecrets, type SecretsKeys } from './check-secrets.ts';
import { judgeWork, judgeWorkers } from './judge-work.ts';

export type Examination = {
  readonly checks: readonly Check[];
  /** Parts that couldn't be looked at because of what is wrong before them. */
  readonly skipped: readonly Check['name'][];
};

export type ExamineDeps = {
  readonly env: NodeJS.ProcessEnv;
  readonly processes: readonly Process[];
  readonly withHerald: WithHerald;
};

const OF_REDIS: readonly Check['name'][] = ['redis', 'shards', 'secrets', 'workers', 'work'];

/** Looks at everything that can be looked at; what is wrong in one part doesn't hide the others. */
export async function examine({ env, processes, withHerald }: ExamineDeps): Promise<Examination> {
  const configuration = checkConfiguration(env, processes);
  // Without its address, or the shards, nothing in Redis means anything.
  if (!tryRead(() => readCliConfig(env))) return { checks: [configuration], skipped: OF_REDIS };
  try {
    return await withHerald(
      async (herald) => {
        const found = await examineRedis(herald, tryRead(() => readEnv(SecretsEnv, env))?.SECRETS_KEY);
        return { checks: [configuration, ...found.checks], skipped: found.skipped };
      },
      { anyShards: true, anyRedis: true },
    );
  } catch (thrown) {
    if (!(thrown instanceof RedisUnreachableError)) throw thrown;
    const unreachable = error(thrown.code, thrown.message);
    return {
      checks: [configuration, { name: 'redis', findings: [unreachable], well: '' }],
      skipped: OF_REDIS.slice(1),
    };
  }
}

async function examineRedis(herald: Herald, keys: SecretsKeys | undefined): Promise<Examination> {
  const { redis, config } = herald;
  const server = await checkRedisServer(herald);
  try {
    const [record, counts, isLost] = await Promise.all([
      createShardRecordStore(redis).read(),
      findShardCounts(redis),
      createLossMark(redis).isThere(),
    ]);
    const layoutProblem = await findLayoutProblem(redis, record);
    const queues = await readQueues(herald);
    const checks: Check[] = [
      server,
      {
        name: 'shards',
        findings:
          isLost && isUnrecorded(record)
            ? [LOSS_KNOWN]
            : [...judgeShards({ record, counts }, config.shardCount), ...(layoutProblem ? [layoutProblem] : [])],
        well:
          counts.sampled === 0
            ? 'there is no data yet'
            : `the data lies where SHARDS=${config.shardCount} looks for it`,
      },
      // The key versions of the shards that there are, whatever SHARDS says.
      ...(keys ? [await checkSecrets({ redis, keyspace: createKeyspace(Math.max(counts.started, 1)) }, keys)] : []),
      { name: 'workers', findings: judgeWorkers(queues), well: `${queues.workers} seen lately` },
      {
        name: 'work',
        findings: judgeWork(queues),
        well: 'nothing is stuck, nothing failed lately',
      },
    ];
    return { checks, skipped: keys ? [] : ['secrets'] };
  } catch (thrown) {
    // A Redis that is too old, or refuses a command, is described already.
    if (!server.findings.some(({ level }) => level === 'error')) throw thrown;
    return { checks: [server], skipped: OF_REDIS.slice(1) };
  }
}

/** What the environment says, when it can be read at all; that it can't is a finding of the configuration. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}
