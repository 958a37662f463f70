import type { EndpointId } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { walkKeys } from '../redis/walk-keys.ts';

export type EndpointStep = {
  readonly endpoints: readonly { readonly keys: ShardKeys; readonly id: EndpointId }[];
  /** Keys of Redis looked at so far, and of how many, both roughly. */
  readonly looked: number;
  readonly total: number;
};

/**
 * Every endpoint of every workspace, step by step, as `walkKeys` goes: there is no index of them, since nothing else ever
 * wants them all.
 */
export async function* walkEndpoints(redis: RedisClient, keyspace: Keyspace): AsyncGenerator<EndpointStep> {
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
