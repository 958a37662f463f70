import type { Finding } from '@herald/runtime/findings/finding';
import { checkRedis } from '@herald/store/requirements/check-redis';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createKeyVersionStore } from '@herald/store/key-versions/key-version-store';
import { createRedisProbe } from '@herald/store/readiness/create-redis-probe';
import { createUntrustedProxyMark, PROXY_NOT_TRUSTED } from '@herald/store/readiness/untrusted-proxy';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createShardRecordStore } from '@herald/store/shards/shard-record';
import { describeMissingKey } from '@herald/store/secrets/register-key-version';
import { findLayoutProblem } from '@herald/store/upgrade/find-layout-problem';
import type { ShardCounts } from '@herald/store/redis/find-shard-counts';
import { createLossMark, isUnrecorded, LOSS_KNOWN } from '@herald/store/shards/data-loss';
import { judgeShards } from '@herald/store/shards/judge-shards';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { Herald } from '../context/open-herald.ts';
import { error, type Check } from './check.ts';

/** Checks the server as processes do when they start and for their readiness. */
export async function checkServer({ config, redis }: Herald): Promise<Check> {
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

export async function checkShards({ redis, config }: Herald, counts: ShardCounts): Promise<Check> {
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
export async function checkProxy({ redis }: Pick<Herald, 'redis'>): Promise<Check> {
  const isNoted = await createUntrustedProxyMark(redis).isThere();
  return {
    name: 'proxy',
    findings: isNoted ? [PROXY_NOT_TRUSTED] : [],
    well: 'no request came lately through a proxy that TRUST_PROXY leaves out',
  };
}

export type SecretsKeys = Parameters<typeof createSecretCipher>[0];

/** Checks that SECRETS_KEY has every key that secrets are encrypted with, in all existing shards. */
export async function checkSecrets(redis: RedisClient, keys: SecretsKeys, { started }: ShardCounts): Promise<Check> {
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
