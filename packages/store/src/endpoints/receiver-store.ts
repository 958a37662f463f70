import {
  RECEIVER_LIMIT,
  PreconditionFailedError,
  type Endpoint,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import type { Keyspace } from '../keys/keys.ts';
import { newRevision } from '../redis/random-token.ts';
import type { ScriptArg } from '../redis/script.ts';
import {
  endOverlapArgs,
  lockArgs,
  patchArgs,
  pauseArgs,
  readPatchReply,
  resumeArgs,
  type EndpointPatch,
  unlockArgs,
} from './endpoint-patch.ts';
import { endpointFields, readEndpoint, versionOf, type EndpointRecord, type SealedHeaders } from './endpoint-record.ts';
import {
  PATCH_RECEIVER_LUA,
  REGISTER_RECEIVER_LUA,
  REMOVE_RECEIVER_LUA,
  ROTATE_SECRET_LUA,
} from './receiver-scripts.ts';

/** `version` changes with whatever can be set of it, and with nothing else. */
export type ReceiverRecord = EndpointRecord & { readonly version: string };

function readReceiver(id: EndpointId, hash: Record<string, string>): ReceiverRecord | undefined {
  const record = readEndpoint(id, hash);
  return record && { ...record, version: versionOf(hash) };
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
