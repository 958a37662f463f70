import type { EndpointId } from '@herald/core';
import { readEndpoint } from '../endpoints/endpoint-record.ts';
import { walkEndpoints } from '../endpoints/walk-endpoints.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';

/** The receivers of every workspace, each once, step by step; see `walkEndpoints`. Callbacks are left out. */
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
