import {
  destinationOf,
  RECEIVER_LIMIT,
  type Endpoint,
  type EndpointId,
  type PatchReceiver,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { newRevision } from '../redis/revision.ts';
import type { ScriptArg } from '../scripts/script.ts';
import { endpointFields, readEndpoint, type EndpointRecord } from './endpoint-record.ts';
import {
  PATCH_RECEIVER_LUA,
  REGISTER_RECEIVER_LUA,
  REMOVE_RECEIVER_LUA,
  ROTATE_SECRET_LUA,
} from './receiver-scripts.ts';

/** A workspace's subscriptions as of a version; acceptance commits only if the version still holds. */
export type Subscriptions = { readonly version: string; readonly receivers: readonly EndpointRecord[] };

export type ReceiverStore = {
  /** `exists`: an earlier run of the same request registered it. */
  readonly register: (receiver: Endpoint, encryptedSecret: string) => Promise<'registered' | 'exists' | 'full'>;
  /** A workspace's receivers, oldest first. */
  readonly list: (workspaceId: WorkspaceId) => Promise<readonly EndpointRecord[]>;
  /** The receiver, if this workspace holds it. */
  readonly find: (workspaceId: WorkspaceId, id: EndpointId) => Promise<EndpointRecord | undefined>;
  readonly patch: (workspaceId: WorkspaceId, id: EndpointId, patch: PatchReceiver, now: number) => Promise<boolean>;
  readonly remove: (workspaceId: WorkspaceId, id: EndpointId, now: number) => Promise<boolean>;
  /** Puts a new secret in force; the old one stays until `overlapEndsAt` (epoch ms). Of a receiver or a callback. */
  readonly rotateSecret: (
    workspaceId: WorkspaceId,
    id: EndpointId,
    encryptedSecret: string,
    overlapEndsAt: number | undefined,
    now: number,
  ) => Promise<boolean>;
  readonly findSubscriptions: (workspaceId: WorkspaceId) => Promise<Subscriptions>;
};

export type ReceiverStoreDeps = ReplicatedStoreDeps & { readonly keyspace: Keyspace };

export function createReceiverStore(deps: ReceiverStoreDeps): ReceiverStore {
  const { redis, keyspace } = deps;
  const register = defineReplicatedScript(deps, 'registerReceiver', REGISTER_RECEIVER_LUA);
  const patch = defineReplicatedScript(deps, 'patchReceiver', PATCH_RECEIVER_LUA);
  const remove = defineReplicatedScript(deps, 'removeReceiver', REMOVE_RECEIVER_LUA);
  const rotate = defineReplicatedScript(deps, 'rotateSecret', ROTATE_SECRET_LUA);

  const keysOf = (workspaceId: WorkspaceId, id: EndpointId) => {
    const keys = keyspace.of(workspaceId);
    return [keys.receivers(workspaceId), keys.endpoint(id), keys.subscriptionVersion(workspaceId), keys.purge];
  };
  const list = async (workspaceId: WorkspaceId) => {
    const keys = keyspace.of(workspaceId);
    const ids = await redis.zrange(keys.receivers(workspaceId), 0, '-1');
    const records = await Promise.all(ids.map((id) => redis.hgetall(keys.endpoint(id))));
    return ids.map((id, index) => readEndpoint(id, records[index] ?? {})).filter((record) => record !== undefined);
  };

  return {
    list,
    async register(receiver, encryptedSecret) {
      const { workspaceId, id } = receiver;
      const keys = keyspace.of(workspaceId);
      const reply = await register(
        [keys.receivers(workspaceId), keys.endpoint(id), keys.subscriptionVersion(workspaceId), keys.keyVersions],
        [RECEIVER_LIMIT, receiver.createdAt, id, newRevision(), ...endpointFields(receiver, encryptedSecret)],
      );
      return z.enum(['registered', 'exists', 'full']).parse(reply);
    },
    async find(workspaceId, id) {
      const record = readEndpoint(id, await redis.hgetall(keyspace.of(workspaceId).endpoint(id)));
      // A callback lives under the same kind of key, and is no receiver.
      return record?.workspaceId === workspaceId && id.startsWith('wh') ? record : undefined;
    },
    async patch(workspaceId, id, change, now) {
      const { unset, set } = patchFields(workspaceId, change, now);
      const reply = await patch(keysOf(workspaceId, id), [id, newRevision(), unset.length, ...unset, ...set]);
      return reply === 'patched';
    },
    async remove(workspaceId, id, now) {
      return (await remove(keysOf(workspaceId, id), [id, newRevision(), now])) === 'removed';
    },
    async rotateSecret(workspaceId, id, encryptedSecret, overlapEndsAt, now) {
      const { endpoint, keyVersions } = keyspace.of(workspaceId);
      const args = [workspaceId, encryptedSecret, overlapEndsAt ?? '', now];
      return (await rotate([endpoint(id), keyVersions], args)) === 'rotated';
    },
    async findSubscriptions(workspaceId) {
      // The version is read first: a change in between makes it stale, and the commit is refused.
      const version = await redis.get(keyspace.of(workspaceId).subscriptionVersion(workspaceId));
      return { version: version ?? '0', receivers: await list(workspaceId) };
    },
  };
}

/** A PATCH as hash fields. A new url starts with a clean health; enabling forgets why it was disabled. */
function patchFields(workspaceId: WorkspaceId, { url, events, description, enabled }: PatchReceiver, now: number) {
  const unset: string[] = [];
  const set: ScriptArg[] = [];
  if (url !== undefined) {
    set.push('url', url, 'dst', destinationOf(workspaceId, url), 'okFrom', now);
    unset.push('fails', 'failAt', 'okAt');
  }
  if (events !== undefined) set.push('events', events.join(','));
  if (description !== undefined) set.push('desc', description);
  if (enabled === true) {
    set.push('on', '1', 'okFrom', now);
    unset.push('offAt', 'offWhy', 'fails', 'failAt');
  }
  if (enabled === false) set.push('on', '0', 'offAt', now, 'offWhy', 'by_request');
  return { unset, set };
}
