import { createCertificateAuthority, startRedisSentinels, type RunningRedisSentinels } from '@herald/test-kit';
import { measureBatches, measureSingles, withApiOn, type Accepted } from './measure-accept.ts';
import { createHeraldEnv } from './start-herald.ts';

export type ReplicatedAccept = Readonly<Record<'single' | 'batch', Accepted>>;

/** Accepting on a master with a replica and three Sentinels. The CPU of Redis is the master's. */
export async function measureReplicated(minReplicas: 0 | 1, fanOut: number): Promise<ReplicatedAccept> {
  await using redis = await startRedisSentinels({ appendonly: true });
  const [master] = redis.servers;
  if (!master) throw new Error('the Sentinels watch no server');
  await using env = await createHeraldEnv(master.url, await createCertificateAuthority());
  const variables = { ...withoutUrl(env.variables), ...watchedBy(redis), REDIS_MIN_REPLICAS: String(minReplicas) };
  return await withApiOn(master, { ...env, variables }, { fanOut }, async (api) => ({
    single: await measureSingles(api),
    batch: await measureBatches(api),
  }));
}

/** A url beside Sentinels is refused. */
function withoutUrl(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => name !== 'REDIS_URL'));
}

function watchedBy({ ports, masterName }: RunningRedisSentinels): Record<string, string> {
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  return { REDIS_SENTINELS: addresses.join(','), REDIS_SENTINEL_MASTER: masterName };
}
