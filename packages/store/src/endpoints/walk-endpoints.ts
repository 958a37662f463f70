import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { walkKeys } from '../redis/walk-keys.ts';

/** Every endpoint of every workspace, step by step (see `walkKeys`): no index lists them all. */
export async function* walkEndpoints(redis: RedisClient, keyspace: Keyspace) {
  const shards = new Map(keyspace.shards.map((keys) => [keys.prefix, keys]));
  for await (const { names, looked, total } of walkKeys(redis, '{*}:e:*')) {
    yield { endpoints: names.flatMap((name) => toEndpoint(name, shards)), looked, total };
  }
}

function toEndpoint(name: string, shards: ReadonlyMap<string, ShardKeys>) {
  const [, prefix, id] = /^(\{[^}]*\}:)e:([^:]+)$/.exec(name) ?? [];
  if (prefix === undefined || id === undefined) return []; // an endpoint's log
  const keys = shards.get(prefix);
  if (!keys)
    throw new ConfigError('SHARDS is smaller than what this Redis was used with; set it as the service has it.');
  return [{ keys, id }];
}
