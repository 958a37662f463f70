import { deliveryIdOf } from '@herald/core';
import { EXPRESS_MARK } from '@herald/queue';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createShardKeys, type Keyspace, type ShardKeys } from '@herald/store/keyspace/keys';
import { SHARD_TAGS } from '@herald/store/keyspace/shards';
import { walkKeys } from '@herald/store/redis/walk-keys';
import type { AwaitCopies } from '@herald/store/shards/await-copies';
import { copyKey, copySortedSet } from './copy-key.ts';
import { KEY_KINDS, readKeyName, type KeyName, type KindsOf } from '@herald/store/shards/key-name';
import type { Owners } from './owners.ts';

/** Records under way at the same time: each may have a body of 256 KiB. */
const AT_ONCE = 50;

export type MoveRecordsDeps = {
  readonly redis: RedisClient;
  readonly target: Keyspace;
  readonly owners: Owners;
  readonly awaitCopies: AwaitCopies;
  readonly onProgress: (looked: number, total: number) => void;
};

/**
 * Moves the lists that go alone: logs. Before the records move, as a removed receiver's log is known by them. Deletes too what says where
 * deliveries stand in the queue: that is made anew from the records.
 * @returns keys moved
 */
export async function moveLists(deps: MoveRecordsDeps): Promise<number> {
  const { redis, target, owners, awaitCopies } = deps;
  return await walkShardKeys(deps, async ({ shard, kind, id }, name) => {
    if (await forgetPlaces(redis, kind, id, name)) return 0;
    if (KEY_KINDS[kind].step !== 'list') return 0;
    const from = keysOf(shard);
    const owner = await owners.ofEndpoint(from, id);
    if (owner === undefined) return 0;
    const to = target.of(owner);
    if (to.prefix === from.prefix) return 0;
    const home = to.endpointLog(id);
    if (!(await copySortedSet(redis, name, home))) return 0;
    await awaitCopies([home]);
    await redis.unlink(name);
    return 1;
  });
}

/**
 * Of the queue, deletes what says where deliveries stand. What is known of a group stays, such as an open breaker, but not its place.
 * @returns whether there is nothing more to do with this key
 */
async function forgetPlaces(redis: RedisClient, kind: KeyName['kind'], id: string, name: string): Promise<boolean> {
  const isOfNoDestination = id === '' || id.startsWith(EXPRESS_MARK);
  if (KEY_KINDS[kind].step === 'rebuilt' || (kind === 'group' && isOfNoDestination)) {
    await redis.unlink(name);
    return true;
  }
  if (kind === 'group') await redis.hdel(name, 'p', 'n');
  // How many wait.
  if (kind === 'settings') await redis.hdel(name, 'n');
  return kind === 'group' || kind === 'settings';
}

/**
 * Moves the records, each with what is attached to it. A record is deleted last: as long as it is there, it says where the rest belongs.
 * @returns keys moved
 */
export async function moveRecords(deps: MoveRecordsDeps): Promise<number> {
  const { redis, target, awaitCopies } = deps;
  return await walkShardKeys(deps, async (key, name) => {
    const { shard, kind, id } = key;
    if (!isRecord(kind)) return 0;
    const from = keysOf(shard);
    const { owner, attached } = await readRecord(redis, from, kind, id);
    if (owner === undefined) return 0;
    const to = target.of(owner);
    if (to.prefix === from.prefix) return 0;
    const rehome = (each: string) => to.prefix + each.slice(from.prefix.length);
    const copied = await Promise.all(
      [...attached, name].map(async (each) => ((await copyKey(redis, each, rehome(each))) ? [each] : [])),
    );
    const [first] = copied.flat();
    if (first === undefined) return 0;
    // They went to one server, one after the other: it has all when it has the last.
    await awaitCopies([rehome(name)]);
    if (attached.length > 0) await redis.unlink(...attached);
    await redis.unlink(name);
    return copied.flat().length;
  });
}

function isRecord(kind: KeyName['kind']): kind is KindsOf<'record'> {
  return KEY_KINDS[kind].step === 'record';
}

/** Whose a record is, and the keys that go with it. */
async function readRecord(redis: RedisClient, keys: ShardKeys, kind: KindsOf<'record'>, id: string) {
  switch (kind) {
    case 'receivers':
    case 'subscriptionVersion':
    case 'workspaceReplays':
      return { owner: id, attached: [] };
    case 'endpoint': {
      const [owner, destination, former] = await redis.hmget(keys.endpoint(id), 'ws', 'dst', 'dstWas');
      const destinations = [destination, former].filter((each) => each != null);
      return { owner: owner ?? undefined, attached: destinations.map(keys.queue.group) };
    }
    case 'task': {
      const owner = (await redis.hget(keys.task(id), 'ws')) ?? undefined;
      return { owner, attached: [keys.facts(id), keys.messages(id), keys.decisions(id)] };
    }
    case 'transition': {
      const [owner, endpoints] = await redis.hmget(keys.transition(id), 'ws', 'eps');
      const ids = (endpoints ?? '').split(',').map((endpointId) => deliveryIdOf(id, endpointId));
      return { owner: owner ?? undefined, attached: ids.flatMap((each) => [keys.delivery(each), keys.attempts(each)]) };
    }
    case 'replay':
      return { owner: (await redis.hget(keys.replay(id), 'ws')) ?? undefined, attached: [] };
  }
}

/** Goes through all keys of all shards, some at a time. @returns the sum of what `use` returned */
export async function walkShardKeys(
  { redis, onProgress }: Pick<MoveRecordsDeps, 'redis' | 'onProgress'>,
  use: (key: KeyName, name: string) => Promise<number>,
): Promise<number> {
  let sum = 0;
  for await (const { names, looked, total } of walkKeys(redis, '{*}:*')) {
    for (let start = 0; start < names.length; start += AT_ONCE) {
      const counts = await Promise.all(
        names.slice(start, start + AT_ONCE).map(async (name) => {
          const key = readKeyName(name);
          return key ? await use(key, name) : 0;
        }),
      );
      for (const count of counts) sum += count;
    }
    onProgress(looked, total);
  }
  return sum;
}

function keysOf(shard: number): ShardKeys {
  return createShardKeys(SHARD_TAGS[shard] ?? '');
}
