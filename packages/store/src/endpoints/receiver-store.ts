import {
  PreconditionFailedError,
  RECEIVER_LIMIT,
  type Endpoint,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import { createGroupReader, type GroupState } from '@herald/queue';
import { mapInChunks } from '@herald/runtime/chunks';
import { ConfigError } from '@herald/runtime/env';
import { z } from 'zod';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { COUNT_KEY_USE_LUA } from '../redis/key-version-scripts.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineScript, type ScriptArg } from '../redis/script.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import {
  endOverlapArgs,
  lockArgs,
  PATCH_ENDPOINT_LUA,
  patchArgs,
  pauseArgs,
  readPatchReply,
  resumeArgs,
  unlockArgs,
  type EndpointPatch,
} from './endpoint-patch.ts';
import {
  endpointFields,
  readEndpoint,
  SUBSCRIPTION_VERSION_LUA,
  VERSION_LUA,
  versionOf,
  type EndpointRecord,
  type SealedHeaders,
} from './endpoint-record.ts';

/** `version` changes with whatever can be set of it, and with nothing else. */
export type ReceiverRecord = EndpointRecord & { readonly version: string };

function readReceiver(id: EndpointId, hash: Record<string, string>): ReceiverRecord | undefined {
  const record = readEndpoint(id, hash);
  return record && { ...record, version: versionOf(hash) };
}

/** A receiver as it is when it was just registered. */
export function toRegistered(receiver: Endpoint, encryptedSecret: string, headers?: SealedHeaders): ReceiverRecord {
  const fields = endpointFields(receiver, encryptedSecret, headers);
  const pairs = fields.flatMap((name, index) => (index % 2 === 0 ? [[name, fields[index + 1] ?? ''] as const] : []));
  const record = readReceiver(receiver.id, Object.fromEntries(pairs));
  if (!record) throw new Error('these are all the fields that a receiver needs');
  return record;
}

/** A workspace's subscriptions at a version. Acceptance commits only while that version is current. */
export type Subscriptions = { readonly version: string; readonly receivers: readonly EndpointRecord[] };

const RemoveReply = z.enum(['removed', 'missing', 'changed']);
const RegisterReply = z.enum(['registered', 'exists', 'full']);

export function createReceiverStore(deps: ReplicatedStoreDeps & { readonly keyspace: Keyspace }) {
  const { redis, keyspace } = deps;
  const register = defineReplicatedScript(deps, REGISTER_RECEIVER_LUA);
  const patch = defineReplicatedScript(deps, PATCH_RECEIVER_LUA);
  const remove = defineReplicatedScript(deps, REMOVE_RECEIVER_LUA);
  const rotate = defineReplicatedScript(deps, ROTATE_SECRET_LUA);

  const keysOf = (workspaceId: WorkspaceId, id: EndpointId) => {
    const keys = keyspace.of(workspaceId);
    return [keys.receivers(workspaceId), keys.endpoint(id), keys.subscriptionVersion(workspaceId)];
  };
  /** A workspace's receivers, oldest first. */
  const list = async (workspaceId: WorkspaceId): Promise<readonly ReceiverRecord[]> => {
    const keys = keyspace.of(workspaceId);
    const ids = await redis.zrange(keys.receivers(workspaceId), 0, '-1');
    const found = await Promise.all(ids.map(async (id) => readReceiver(id, await redis.hgetall(keys.endpoint(id)))));
    return found.filter((record) => record !== undefined);
  };

  const change = async (
    workspaceId: WorkspaceId,
    id: EndpointId,
    now: number,
    args: readonly ScriptArg[],
    version = '',
  ) => {
    const { prefix, purge, keyVersions } = keyspace.of(workspaceId);
    const keys = [...keysOf(workspaceId, id), purge, keyVersions];
    return readPatchReply(id, await patch(keys, [id, newRevision(), prefix, now, version, ...args]));
  };

  return {
    list,
    /** `exists`: an earlier run of the same request registered it. */
    async register(receiver: Endpoint, encryptedSecret: string, headers?: SealedHeaders) {
      const { workspaceId, id, createdAt } = receiver;
      const reply = await register(
        [...keysOf(workspaceId, id), keyspace.of(workspaceId).keyVersions],
        [RECEIVER_LIMIT, createdAt, id, newRevision(), ...endpointFields(receiver, encryptedSecret, headers)],
      );
      return RegisterReply.parse(reply);
    },
    /** The receiver, if this workspace holds it. */
    find: async (workspaceId: WorkspaceId, id: EndpointId) => {
      const record = readReceiver(id, await redis.hgetall(keyspace.of(workspaceId).endpoint(id)));
      // A callback has the same kind of key, and is no receiver.
      return record?.workspaceId === workspaceId && id.startsWith('wh') ? record : undefined;
    },
    /**
     * False when the workspace has no such receiver; `now` is epoch ms.
     * @param version that it must have; absent: any
     * @throws ReceiverLockedError or PreconditionFailedError
     */
    patch: async (workspaceId: WorkspaceId, id: EndpointId, patched: EndpointPatch, now: number, version?: string) =>
      await change(workspaceId, id, now, patchArgs(workspaceId, patched, now), version),
    /** Disables it so that only `unlock` enables it again. False when the workspace has no such receiver. */
    lock: async (workspaceId: WorkspaceId, id: EndpointId, reason: string | undefined, now: number) =>
      await change(workspaceId, id, now, lockArgs(reason, now)),
    /** Enables it, also while it is locked. False when the workspace has no such receiver. */
    unlock: async (workspaceId: WorkspaceId, id: EndpointId, now: number) =>
      await change(workspaceId, id, now, unlockArgs(now)),
    /** Holds back all that is sent to it but test events, until `resume`. False when the workspace has no such receiver. */
    pause: async (workspaceId: WorkspaceId, id: EndpointId, reason: string | undefined, now: number, since = now) =>
      await change(workspaceId, id, now, pauseArgs(reason, since)),
    /** Lets what waits go. False when the workspace has no such receiver. */
    resume: async (workspaceId: WorkspaceId, id: EndpointId, now: number) =>
      await change(workspaceId, id, now, resumeArgs()),
    /** Leaves the newest secret alone in force. False when the workspace has no such receiver. */
    endOverlap: async (workspaceId: WorkspaceId, id: EndpointId, now: number) =>
      await change(workspaceId, id, now, endOverlapArgs()),
    /**
     * False when the workspace has no such receiver.
     * @param version that it must have; absent: any
     * @throws PreconditionFailedError
     */
    async remove(workspaceId: WorkspaceId, id: EndpointId, now: number, version = '') {
      const { purge, endpointLog, removedReceivers, endpointStats } = keyspace.of(workspaceId);
      const ofReceiver = [purge, endpointLog(id), removedReceivers(workspaceId), endpointStats(id)];
      const keys = [...keysOf(workspaceId, id), ...ofReceiver];
      const reply = RemoveReply.parse(await remove(keys, [id, newRevision(), now, version]));
      if (reply === 'changed') throw new PreconditionFailedError(id);
      return reply === 'removed';
    },
    /** Puts a new secret of a receiver or a callback in force; the old one stays until `overlapEndsAt` (epoch ms). */
    async rotateSecret(
      workspaceId: WorkspaceId,
      id: EndpointId,
      encryptedSecret: string,
      overlapEndsAt: number | undefined,
      now: number,
    ) {
      const { endpoint, keyVersions } = keyspace.of(workspaceId);
      const args = [workspaceId, encryptedSecret, overlapEndsAt ?? '', now];
      return (await rotate([endpoint(id), keyVersions], args)) === 'rotated';
    },
    findSubscriptions: async (workspaceId: WorkspaceId): Promise<Subscriptions> => {
      // The version is read first: a change in between makes it stale, and the commit is refused.
      const version = await redis.get(keyspace.of(workspaceId).subscriptionVersion(workspaceId));
      return { version: version ?? '0', receivers: await list(workspaceId) };
    },
  };
}
export type ReceiverStore = ReturnType<typeof createReceiverStore>;

/** Removed receivers that the list of a workspace's deliveries still has: each costs every page a look into its log. */
export const REMOVED_LIMIT = 40;

const REGISTER_RECEIVER_LUA = /* lua */ `
-- Add a receiver unless the workspace is full. A second run leaves what the first one wrote.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- KEYS[4] key versions (hash)
-- ARGV[1] limit   ARGV[2] now (ms)   ARGV[3] receiver id   ARGV[4] new version   ARGV[5..] hash fields
-- Returns 'registered' | 'exists' | 'full'.
${COUNT_KEY_USE_LUA}
${SUBSCRIPTION_VERSION_LUA}
if redis.call('ZSCORE', KEYS[1], ARGV[3]) then return 'exists' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 'full' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], unpack(ARGV, 5))
countKeyUse(KEYS[4], KEYS[2], 'sec')
countKeyUse(KEYS[4], KEYS[2], 'hdr')
changeVersion(KEYS[3], ARGV[4])
return 'registered'
`;

const PATCH_RECEIVER_LUA = /* lua */ `#!lua flags=allow-oom
-- Change fields of a receiver that its workspace still holds.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- KEYS[4] endpoints whose waiting deliveries must end (zset)   KEYS[5] key versions (hash)
-- ARGV[1] receiver id   ARGV[2] new version   ARGV[3] prefix   ARGV[4] now (ms)   ARGV[5] the version that it must have,
-- '' for any; a call that is sent again finds another one   ARGV[6..] see patchEndpoint
-- Returns {'patched'} | {'missing'} | {'changed'} (it has another version) | {'locked', reason, '' for none}.
local prefix = ARGV[3]
${PATCH_ENDPOINT_LUA}
${SUBSCRIPTION_VERSION_LUA}
${VERSION_LUA}
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return { 'missing' } end
if ARGV[5] ~= '' and versionOf(KEYS[2]) ~= ARGV[5] then return { 'changed' } end
local lock = patchEndpoint(KEYS[2], KEYS[4], KEYS[5], ARGV[1], tonumber(ARGV[4]), 6)
if lock then return { 'locked', lock } end
changeVersion(KEYS[3], ARGV[2])
return { 'patched' }
`;

const REMOVE_RECEIVER_LUA = /* lua */ `#!lua flags=allow-oom
-- Remove a receiver. Its deliveries keep their records, and a purge ends the waiting ones.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- KEYS[4] endpoints whose waiting deliveries must end (zset)   KEYS[5] its log (zset)
-- KEYS[6] removed receivers whose logs still have deliveries (zset)   KEYS[7] its counters (string)
-- ARGV[1] receiver id   ARGV[2] new version   ARGV[3] now (ms)   ARGV[4] the version that it must have, '' for any
-- Returns 'removed' | 'missing' | 'changed' (it has another version).
${SUBSCRIPTION_VERSION_LUA}
${VERSION_LUA}
if ARGV[4] ~= '' and redis.call('EXISTS', KEYS[2]) == 1 and versionOf(KEYS[2]) ~= ARGV[4] then return 'changed' end
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 'missing' end
redis.call('DEL', KEYS[2])
redis.call('UNLINK', KEYS[7])
changeVersion(KEYS[3], ARGV[2])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
-- The newest part of the log may have moved to the history.
local logTtl = math.max(redis.call('PTTL', KEYS[5]), redis.call('PTTL', KEYS[5] .. ':segments'))
if logTtl > 0 then
  redis.call('ZADD', KEYS[6], ARGV[3], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -1 - ${REMOVED_LIMIT})
  if redis.call('PTTL', KEYS[6]) < logTtl then redis.call('PEXPIRE', KEYS[6], logTtl) end
end
return 'removed'
`;

const ROTATE_SECRET_LUA = /* lua */ `
-- Put a new signing secret in force, beside the old one until the overlap ends. During an overlap the old secret stays
-- the same: receivers still verify with it, and a caller that lost the new secret rotates again.
-- KEYS[1] endpoint (hash)   KEYS[2] key versions (hash)
-- ARGV[1] workspace id   ARGV[2] encrypted new secret   ARGV[3] end of the overlap (ms), '' for none   ARGV[4] now (ms)
-- Returns 'rotated' | 'missing'.
${COUNT_KEY_USE_LUA}
if redis.call('HGET', KEYS[1], 'ws') ~= ARGV[1] then return 'missing' end
-- No secret is encrypted to the same text twice: this call was sent again, after its reply was lost.
if redis.call('HGET', KEYS[1], 'sec') == ARGV[2] then return 'rotated' end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], 'sec2', 'sec2To')
else
  local old = redis.call('HMGET', KEYS[1], 'sec', 'sec2', 'sec2To')
  local inForce = old[1]
  if old[3] and tonumber(old[3]) > tonumber(ARGV[4]) then inForce = old[2] end
  redis.call('HSET', KEYS[1], 'sec2', inForce, 'sec2To', ARGV[3])
end
redis.call('HSET', KEYS[1], 'sec', ARGV[2])
countKeyUse(KEYS[2], KEYS[1], 'sec')
return 'rotated'
`;

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

/**
 * `paused`: the platform has paused it, it gave no answers, or asked to be left alone, and due deliveries wait. `failing`: its last
 * attempt failed. `since` is when that began, in epoch ms; for a pause that it did not cause itself, its last success.
 */
export function judgeEndpointHealth(endpoint: EndpointRecord, group: GroupHealth) {
  const { enabled, disabledAt, pausedAt, health, createdAt } = endpoint;
  const { consecutiveFailures, failingSince, lastSuccessAt, healthySince } = health;
  const isPaused = pausedAt !== undefined || group?.isOpen === true || group?.heldUntil !== undefined;
  const state = !enabled ? 'disabled' : isPaused ? 'paused' : consecutiveFailures > 0 ? 'failing' : 'healthy';
  const since = {
    disabled: disabledAt,
    paused: pausedAt ?? failingSince ?? lastSuccessAt,
    failing: failingSince,
    healthy: healthySince,
  }[state];
  return { state, since: since ?? createdAt } as const;
}

export type GroupReadersDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace; readonly now: () => number };

/** Reads the groups of the queue in each shard, by the shard's keys. */
export function createGroupReaders({ redis, keyspace, now }: GroupReadersDeps) {
  const define = (_name: string, lua: string) => defineScript(redis, lua);
  return new Map(
    keyspace.shards.map((keys) => [keys, createGroupReader({ prefix: keys.prefix, defineScript: define, now })]),
  );
}

/** An endpoint's group in the queue; undefined when nothing waits in it and nothing is known of it. */
export type GroupHealth = GroupState | undefined;

/** The receivers of all workspaces are many: scripts that all wait for one Redis at once would run into the timeout. */
const GROUPS_AT_ONCE = 200;

/** Finds these groups, in their order. */
export function createFindGroups(deps: GroupReadersDeps) {
  const readers = createGroupReaders(deps);
  return (groups: readonly { readonly workspaceId: WorkspaceId; readonly group: string }[]) =>
    mapInChunks(
      groups,
      GROUPS_AT_ONCE,
      async ({ workspaceId, group }): Promise<GroupHealth> =>
        await readers.get(deps.keyspace.of(workspaceId))?.find(group),
    );
}
export type FindGroups = ReturnType<typeof createFindGroups>;
