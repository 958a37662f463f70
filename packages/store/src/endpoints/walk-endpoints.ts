import type { EndpointId } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { readEndpoint } from './endpoint-record.ts';

/** Every endpoint of every workspace, step by step (see `walkKeys`): no index lists them all. */
export async function* walkEndpoints(redis: RedisClient, keyspace: Keyspace) {
  const shards = new Map(keyspace.shards.map((keys) => [keys.prefix, keys]));
  for await (const { names, looked, total } of walkKeys(redis, '{*}:e:*')) {
    yield { endpoints: names.flatMap((name) => toEndpoint(name, shards)), looked, total };
  }
}

/** The receivers of every workspace, each once, step by step. Callbacks are left out. */
export async function* walkReceivers(redis: RedisClient, keyspace: Keyspace) {
  const seen = new Set<EndpointId>();
  for await (const { endpoints, looked, total } of walkEndpoints(redis, keyspace)) {
    const fresh = endpoints.filter(({ id }) => id.startsWith('wh') && !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    const found = await Promise.all(
      fresh.map(async ({ keys, id }) => readEndpoint(id, await redis.hgetall(keys.endpoint(id)))),
    );
    yield { receivers: found.filter((receiver) => receiver !== undefined), looked, total };
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
