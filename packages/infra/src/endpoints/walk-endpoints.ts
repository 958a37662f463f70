import type { EndpointId } from '@herald/core';
import { ConfigError } from '../config/env.ts';
import { mastersOf, RedisUnreachableError, type RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../redis/keys.ts';

/** Keys that Redis looks at in one step: a few tenths of a millisecond, in which nothing else is served. */
const STEP = 500;

export type EndpointStep = {
  readonly endpoints: readonly { readonly keys: ShardKeys; readonly id: EndpointId }[];
  /** Keys of Redis looked at so far, and of how many, both roughly. */
  readonly looked: number;
  readonly total: number;
};

/**
 * Every endpoint of every workspace, step by step, while the service runs: each that is there from the first step to the
 * last, some twice. There is no index of them, since nothing else ever wants them all. Goes from master to master; slots
 * must not be moved between them meanwhile.
 * @throws RedisUnreachableError when a connection broke: a cursor means nothing to a server that was started anew, or to
 * the replica that took its place
 */
export async function* walkEndpoints(redis: RedisClient, keyspace: Keyspace): AsyncGenerator<EndpointStep> {
  const shards = new Map(keyspace.shards.map((keys) => [keys.prefix, keys]));
  const connection = { broke: false };
  const onClose = () => {
    connection.broke = true;
  };
  const masters = mastersOf(redis);
  for (const master of masters) master.on('close', onClose);
  try {
    const sizes = await Promise.all(masters.map((master) => master.dbsize()));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let looked = 0;
    for (const master of masters) {
      let cursor = '0';
      do {
        const [next, names] = await master.scan(cursor, 'MATCH', '{*}:e:*', 'COUNT', STEP);
        if (connection.broke) {
          throw new RedisUnreachableError(
            'The connection to Redis broke on the way through its keys. Start this again.',
          );
        }
        looked = Math.min(looked + STEP, total);
        yield { endpoints: names.flatMap((name) => toEndpoint(name, shards)), looked, total };
        cursor = next;
      } while (cursor !== '0');
    }
  } finally {
    for (const master of masters) master.off('close', onClose);
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
