import { isCallbackId, taskIdOfCallback, type EndpointId, type WorkspaceId } from '@herald/core';
import type { Keyspace } from '../keys/keys.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import type { ScriptArg } from '../redis/script.ts';
import { lockArgs, patchArgs, readPatchReply, unlockArgs, type EndpointPatch } from './endpoint-patch.ts';
import { readEndpoint } from './endpoint-record.ts';
import { PATCH_CALLBACK_LUA } from './patch-callback-script.ts';

/** Callbacks, by their own ids. Each is created with its Task. */
export function createCallbackStore(deps: ReplicatedStoreDeps & { readonly keyspace: Keyspace }) {
  const { redis, keyspace } = deps;
  const patch = defineReplicatedScript(deps, PATCH_CALLBACK_LUA);
  const change = async (workspaceId: WorkspaceId, id: EndpointId, now: number, args: readonly ScriptArg[]) => {
    const keys = keyspace.of(workspaceId);
    const names = [keys.task(taskIdOfCallback(id)), keys.endpoint(id), keys.purge, keys.keyVersions];
    return readPatchReply(id, await patch(names, [id, newRevision(), keys.prefix, now, workspaceId, ...args]));
  };
  return {
    /** The callback, if it belongs to a Task of this workspace. */
    async find(workspaceId: WorkspaceId, id: EndpointId) {
      const record = readEndpoint(id, await redis.hgetall(keyspace.of(workspaceId).endpoint(id)));
      return record?.workspaceId === workspaceId && isCallbackId(id) ? record : undefined;
    },
    /**
     * False when the workspace has no such callback; `now` is epoch ms.
     * @throws ReceiverLockedError
     */
    patch: async (workspaceId: WorkspaceId, id: EndpointId, patched: EndpointPatch, now: number) =>
      await change(workspaceId, id, now, patchArgs(workspaceId, patched, now)),
    /** Disables it so that only `unlock` enables it again. False when the workspace has no such callback. */
    lock: async (workspaceId: WorkspaceId, id: EndpointId, reason: string | undefined, now: number) =>
      await change(workspaceId, id, now, lockArgs(reason, now)),
    /** Enables it, also while it is locked. False when the workspace has no such callback. */
    unlock: async (workspaceId: WorkspaceId, id: EndpointId, now: number) =>
      await change(workspaceId, id, now, unlockArgs(now)),
  };
}
export type CallbackStore = ReturnType<typeof createCallbackStore>;
