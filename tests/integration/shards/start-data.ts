import {
  callbackIdOf,
  deliveryIdOf,
  originOf,
  newTestTransitionId,
  PLATFORM,
  type DeliveryId,
  type Endpoint,
  type Task,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { createAuditTrail } from '@herald/store/access/audit-trail';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keys/keys';
import { NOTICE_LUA } from '@herald/store/deliveries/delivery-store';
import { createBindingStore } from '@herald/store/access/binding-store';
import { createPortalLinkStore } from '@herald/store/access/portal-link-store';
import { createReplayStore } from '@herald/store/bulk/replay-store';
import { LAYOUT } from '@herald/store/keys/layout';
import { newRevision } from '@herald/store/redis/random-token';
import { buildReceiver, buildTask, newWorkspaceId, startStores } from '../../support/start-stores.ts';

const KEEP_MS = 7 * 86_400_000;
const LEASE_MS = 20_000;

const TELL_LUA = /* lua */ `
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
${NOTICE_LUA}
local now = tonumber(ARGV[4])
tellPlatform(cjson.decode(ARGV[2]), ARGV[3], 'receiver.failing', now, now, '')
`;

export type Data = Awaited<ReturnType<typeof startData>>;
type Receiver = Endpoint & { readonly group: string; readonly origin: string };

/** All that Herald keeps in Redis, in one shard, and no process that works on it. */
export async function startData() {
  const stores = await startStores();
  const { redis, keys, keyspace } = stores;
  await redis.hset(GLOBAL_KEYS.shards, { count: 1, layout: LAYOUT });

  const register = async (workspaceId: string, url: string, more: Partial<Endpoint> = {}): Promise<Receiver> => {
    const receiver = buildReceiver(workspaceId, { url, ...more });
    await stores.receivers.register(receiver, 'encrypted');
    const found = await stores.receivers.find(workspaceId, receiver.id);
    if (!found) throw new Error('it was registered just now');
    return found;
  };

  /** One transition to one endpoint. */
  const commit = async (
    { workspaceId, id }: Pick<Receiver, 'workspaceId' | 'id'>,
    task: Task,
    now: number,
  ): Promise<DeliveryId> => {
    const { version } = await stores.receivers.findSubscriptions(workspaceId);
    const transitionId = newTestTransitionId();
    const reply = await stores.transitions.commit({
      task,
      newRevision: newRevision(),
      subscriptionVersion: version,
      now,
      change: { status: 'done', sequence: 1 },
      factKey: 'done',
      emission: {
        transitionId,
        event: 'task.done',
        body: '{"a":1}',
        targets: [{ endpointId: id, enabled: true }],
      },
    });
    if (reply.kind !== 'accepted') throw new Error('nothing changed meanwhile');
    return deliveryIdOf(transitionId, id);
  };

  /** One transition to one receiver. */
  const accept = async (receiver: Receiver, now: number): Promise<DeliveryId> => {
    const task = buildTask(receiver.workspaceId, { createdAt: now });
    await stores.tasks.create(task);
    return await commit(receiver, task, now);
  };

  /** One transition to the callback of its Task alone. */
  const acceptToCallback = async (workspaceId: string, now: number) => {
    const task = buildTask(workspaceId, { createdAt: now });
    const endpoint = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: 'https://told.example.com/' });
    await stores.tasks.create(task, { endpoint, encryptedSecret: 'encrypted.callback' });
    const group = originOf(workspaceId, endpoint.url);
    return { id: await commit(endpoint, task, now), group };
  };

  /** As if a worker were just sending it. */
  const takeIntoWork = async (id: DeliveryId, group: string): Promise<void> => {
    const score = await redis.zscore(keys.queue.waiting(group), id);
    await redis.zrem(keys.queue.waiting(group), id);
    await redis.zadd(keys.queue.leases, Date.now() + LEASE_MS, `${score ?? ''}|${group}|nonce|${id}`);
    await redis.hincrby(keys.queue.group(group), 'n', 1);
    await redis.hincrby(keys.queue.settings, 'n', -1);
  };

  /** As if attempts had been recorded after which it is pending. */
  const retryAt = async (id: DeliveryId, dueAt: number, now: number): Promise<void> => {
    await redis.rpush(keys.attempts(id), JSON.stringify({ at: now, durationMs: 1, status: 500 }));
    await redis.hset(keys.delivery(id), 'n', 1, 'due', dueAt);
  };

  /** As if a replay had brought it back after it had failed. */
  const replay = async (id: DeliveryId, now: number): Promise<void> => {
    await redis.hset(keys.delivery(id), 's', 'pending', 'n', 0, 'from', now, 'due', now);
  };

  /** As if the platform had to be told of a receiver of the workspace. */
  const tell = async (workspaceId: string, now: number): Promise<DeliveryId> => {
    const transitionId = newTestTransitionId();
    const deliveryId = deliveryIdOf(transitionId, PLATFORM);
    const draft = { transitionId, deliveryId, fields: '"a":1', logTtl: KEEP_MS };
    await redis.eval(TELL_LUA, 1, keys.notices, keys.prefix, JSON.stringify(draft), workspaceId, now);
    return deliveryId;
  };

  return {
    stores,
    redis,
    keys,
    tell,
    trail: createAuditTrail({ redis, keyspace, length: 10_000, now: Date.now }),
    deliveries: stores.deliveries,
    log: createDeliveryLog({ redis, keyspace }),
    replays: createReplayStore({ redis, keyspace, keepMs: KEEP_MS }),
    bindings: createBindingStore({ redis, keyspace, now: Date.now }),
    portalLinks: createPortalLinkStore({ redis, keyspace, now: Date.now }),
    register,
    accept,
    acceptToCallback,
    takeIntoWork,
    retryAt,
    replay,
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}

/** The id of a workspace that so many shards have in this one of them. */
export function newWorkspaceIdIn(shard: number, shardCount: number): string {
  const { shards, of } = createKeyspace(shardCount);
  let id = newWorkspaceId();
  while (of(id) !== shards[shard]) id = newWorkspaceId();
  return id;
}
