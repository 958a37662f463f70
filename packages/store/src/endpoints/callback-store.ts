import { isCallbackId, taskIdOfCallback, type EndpointId, type WorkspaceId } from '@herald/core';
import type { Keyspace } from '../keyspace/keys.ts';
import { newRevision } from '../redis/revision.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import { patchArgs, type EndpointPatch } from './endpoint-patch.ts';
import { readEndpoint } from './endpoint-record.ts';
import { PATCH_CALLBACK_LUA } from './patch-callback-script.ts';

/** Callbacks, by their own ids. Each is created with its Task. */
export function createCallbackStore(deps: ReplicatedStoreDeps & { readonly keyspace: Keyspace }) {
  const { redis, keyspace } = deps;
  const patch = defineReplicatedScript(deps, PATCH_CALLBACK_LUA);
  return {
    /** The callback, if it belongs to a Task of this workspace. */
    async find(workspaceId: WorkspaceId, id: EndpointId) {
      const record = readEndpoint(id, await redis.hgetall(keyspace.of(workspaceId).endpoint(id)));
      return record?.workspaceId === workspaceId && isCallbackId(id) ? record : undefined;
    },
    /** False when the workspace has no such callback; `now` is epoch ms. */
    async patch(workspaceId: WorkspaceId, id: EndpointId, change: EndpointPatch, now: number) {
      const keys = keyspace.of(workspaceId);
      const args = [id, workspaceId, newRevision(), ...patchArgs(workspaceId, change, now)];
      const names = [keys.task(taskIdOfCallback(id)), keys.endpoint(id), keys.purge, keys.keyVersions];
      return (await patch(names, args)) === 'patched';
    },
  };
}
export type CallbackStore = ReturnType<typeof createCallbackStore>;
