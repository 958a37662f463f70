import { type DeliveryId, deliveryIdOf, type EndpointId, groupOf, type WorkspaceId } from '@herald/core';
import { KEY_KINDS, type KeyName, type KindsOf, readKeyName } from '@herald/store/keys/key-name';
import { createShardKeys, type Keyspace, type ShardKeys, readScoredIds, SHARD_TAGS } from '@herald/store/keys/keys';
import { chunksOf } from '@herald/runtime/chunks';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { walkKeys } from '@herald/store/redis/walk-keys';
import { type AwaitCopies, forgetPlace } from '@herald/store/data/enqueue-pending';

/** Records moved at the same time: each may have a body of 256 KiB. */
const AT_ONCE = 50;

export type MoveDeps = {
  readonly redis: RedisClient;
  readonly target: Keyspace;
  readonly owners: Owners;
  readonly awaitCopies: AwaitCopies;
  readonly onProgress: (step: ReshardStep, done: number, total: number) => void;
};

export type ReshardStep = 'indexes' | 'lists' | 'records' | 'queue' | 'leftovers';

/** The same key in another shard. */
export function keyInShard(key: string, from: ShardKeys, to: ShardKeys): string {
  return to.prefix + key.slice(from.prefix.length);
}

/**
 * Moves the delivery logs of endpoints and workspaces, and the lines of ordered deliveries. It runs before the records move, since these tell who owned a removed endpoint.
 * It also deletes the places of deliveries in the queue, which are made anew from the records.
 * @returns keys moved
 */
export async function moveLists(deps: MoveDeps): Promise<number> {
  const { redis, target, owners, awaitCopies } = deps;
  return await walkShardKeys(deps, 'lists', async ({ shard, kind, id }, name) => {
    if (await forgetPlace(redis, kind, id, name)) return 0;
    if (KEY_KINDS[kind].step !== 'list') return 0;
    const from = keysOf(shard);
    const owner = await ownerOfList(owners, from, { kind, id }, name);
    if (owner === undefined) return 0;
    const homeOf = (key: string) => keyInShard(key, from, target.of(owner));
    if (homeOf(name) === name) return 0;
    const parts =
      kind === 'line' ? [name] : await partsOf(redis, from, kind === 'logSegments' ? from.prefix + id : name);
    let copied = 0;
    for (const some of chunksOf(parts, AT_ONCE)) {
      const present = await Promise.all(some.map((part) => copySortedSet(redis, part, homeOf(part))));
      const copies = some.filter((_part, index) => present[index]).map(homeOf);
      copied += copies.length;
      await awaitCopies(copies);
    }
    // Its last part names the others, for a run that continues this one.
    if (copied > 0) for (const some of chunksOf(parts, AT_ONCE)) await redis.unlink(...some);
    return copied;
  });
}

async function ownerOfList(owners: Owners, from: ShardKeys, { kind, id }: Pick<KeyName, 'kind' | 'id'>, name: string) {
  if (kind === 'line') return await owners.ofLine(from, name);
  const log = kind === 'logSegments' ? readKeyName(from.prefix + id) : { kind, id };
  return log?.kind === 'callbackLog' ? log.id : await owners.ofEndpoint(from, log?.id ?? '');
}

/** The keys of a log, which go together: each alone might not tell its owner. */
async function partsOf(redis: RedisClient, keys: ShardKeys, log: string): Promise<string[]> {
  const segments = keys.logSegments(log);
  const names = await redis.zrange(segments, 0, '-1');
  return [...names.map((name) => keys.logSegment(log, name)), log, segments];
}

/**
 * Moves the records, each with its attached keys. A record is deleted last: it tells where the attached keys belong.
 * @returns keys moved
 */
export async function moveRecords(deps: MoveDeps): Promise<number> {
  const { redis, target, owners, awaitCopies } = deps;
  return await walkShardKeys(deps, 'records', async ({ shard, kind, id }, name) => {
    if (!isRecord(kind)) return 0;
    const from = keysOf(shard);
    const { owner, attached } = await readRecord(redis, owners, from, kind, id);
    if (owner === undefined) return 0;
    const homeOf = (key: string) => keyInShard(key, from, target.of(owner));
    if (homeOf(name) === name) return 0;
    const copied = await Promise.all([...attached, name].map((key) => copyKey(redis, key, homeOf(key))));
    if (!copied.includes(true)) return 0;
    // The copies went to one server in this order: replicas that have the last one have all.
    await awaitCopies([homeOf(name)]);
    if (attached.length > 0) await redis.unlink(...attached);
    await redis.unlink(name);
    return copied.filter(Boolean).length;
  });
}

function isRecord(kind: KeyName['kind']): kind is KindsOf<'record'> {
  return KEY_KINDS[kind].step === 'record';
}

/** The owner of a record, and the keys attached to it. */
async function readRecord(redis: RedisClient, owners: Owners, keys: ShardKeys, kind: KindsOf<'record'>, id: string) {
  switch (kind) {
    case 'receivers':
    case 'subscriptionVersion':
    case 'listeners':
    case 'portalLinks':
    case 'removedReceivers':
    case 'workspaceReplays':
    case 'workspaceTasks':
    case 'boundWorkspaces':
    case 'callbackStats':
    case 'workspaceLeaving':
      return { owner: id, attached: [] };
    case 'endpoint': {
      const [owner, origin] = await redis.hmget(keys.endpoint(id), 'ws', 'dst');
      const group = keys.queue.group(groupOf(id, origin ?? id));
      return { owner: owner ?? undefined, attached: [group, keys.endpointStats(id)] };
    }
    case 'replay':
      return { owner: await owners.ofRecord(keys.replay(id)), attached: [] };
    case 'task': {
      const attached = [keys.facts(id), keys.messages(id), keys.decisions(id)];
      return { owner: await owners.ofRecord(keys.task(id)), attached };
    }
    case 'transition': {
      const [owner, endpoints] = await redis.hmget(keys.transition(id), 'ws', 'eps');
      const ids = (endpoints ?? '').split(',').map((endpointId) => deliveryIdOf(id, endpointId));
      return { owner: owner ?? undefined, attached: ids.flatMap((each) => [keys.delivery(each), keys.attempts(each)]) };
    }
  }
}

/** Calls `use` for all keys of all shards, some at a time. @returns the sum of its results */
export async function walkShardKeys(
  { redis, onProgress }: MoveDeps,
  step: ReshardStep,
  use: (key: KeyName, name: string) => Promise<number>,
): Promise<number> {
  let sum = 0;
  for await (const { names, looked, total } of walkKeys(redis, '{*}:*')) {
    for (const some of chunksOf(names, AT_ONCE)) {
      const counts = await Promise.all(
        some.map(async (name) => {
          const key = readKeyName(name);
          return key ? await use(key, name) : 0;
        }),
      );
      for (const count of counts) sum += count;
    }
    onProgress(step, looked, total);
  }
  return sum;
}

function keysOf(shard: number): ShardKeys {
  return createShardKeys(SHARD_TAGS[shard] ?? '');
}

/** Members in one command: a set of millions must neither block Redis nor fill this process' memory. */
const PAGE = 1_000;

/**
 * Copies a key with its expiry, and replaces the target. The value passes through this process, since the two keys may
 * be on different servers.
 * @returns false when there is nothing to copy
 */
async function copyKey(redis: RedisClient, from: string, to: string): Promise<boolean> {
  const [value, expiresAt] = await Promise.all([
    redis.dumpBuffer(from) as Promise<Buffer | null>,
    redis.pexpiretime(from),
  ]);
  if (value === null || expiresAt === -2) return false;
  await redis.restore(to, Math.max(0, expiresAt), value, 'REPLACE', 'ABSTTL');
  return true;
}

/** As `copyKey`, for a sorted set of any size. The target may hold some of its members already, and no others. */
async function copySortedSet(redis: RedisClient, from: string, to: string): Promise<boolean> {
  if ((await redis.zcard(from)) <= PAGE) return await copyKey(redis, from, to);
  const expiresAt = await redis.pexpiretime(from);
  for (let offset = 0, size = PAGE; size === PAGE; offset += size) {
    const page = readScoredIds(await redis.zrange(from, offset, String(offset + PAGE - 1), 'WITHSCORES'));
    if (page.length > 0) await redis.zadd(to, ...page.flatMap(({ score, id }) => [score, id]));
    size = page.length;
  }
  if (expiresAt > 0) await redis.pexpireat(to, expiresAt);
  return true;
}

/** Members of a log that are asked before it counts as orphaned: the first ones may have expired. */
const ASKED = 100;

/** The workspaces that own things, found by the records of their shard; undefined when no record tells. */
export function createOwners(redis: RedisClient) {
  const ofRecord = async (key: string): Promise<WorkspaceId | undefined> => (await redis.hget(key, 'ws')) ?? undefined;
  const ofDelivery = async (keys: ShardKeys, id: DeliveryId): Promise<WorkspaceId | undefined> => {
    const [transition, endpoint] = await redis.hmget(keys.delivery(id), 'x', 'e');
    const owner = transition == null ? undefined : await ofRecord(keys.transition(transition));
    return owner ?? (endpoint == null ? undefined : await ofRecord(keys.endpoint(endpoint)));
  };
  /** Also of a removed endpoint, as long as its log has deliveries. */
  const ofEndpoint = async (keys: ShardKeys, id: EndpointId): Promise<WorkspaceId | undefined> => {
    const known = await ofRecord(keys.endpoint(id));
    if (known !== undefined) return known;
    const log = keys.endpointLog(id);
    const newest = await redis.zrange(keys.logSegments(log), 0, '0', 'REV');
    for (const part of [log, ...newest.map((name) => keys.logSegment(log, name))]) {
      for (const deliveryId of await redis.zrange(part, 0, String(ASKED - 1), 'REV')) {
        const owner = await ofDelivery(keys, deliveryId);
        if (owner !== undefined) return owner;
      }
    }
    return undefined;
  };
  /** Of the pending deliveries in a line. */
  const ofLine = async (keys: ShardKeys, line: string): Promise<WorkspaceId | undefined> => {
    const [first] = await redis.zrange(line, 0, '0');
    return first === undefined ? undefined : await ofDelivery(keys, first);
  };
  return { ofRecord, ofDelivery, ofEndpoint, ofLine };
}
export type Owners = ReturnType<typeof createOwners>;
