import {
  DEFAULT_ORDERING_TIMEOUT_MS,
  isCallbackId,
  taskIdOfCallback,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import { ACCOUNT_LUA } from '../keys/account-lua.ts';
import type { Keyspace } from '../keys/keys.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { newRevision } from '../redis/random-token.ts';
import type { ScriptArg } from '../redis/script.ts';
import {
  lockArgs,
  PATCH_ENDPOINT_LUA,
  patchArgs,
  readPatchReply,
  unlockArgs,
  type EndpointPatch,
} from './endpoint-patch.ts';
import { readEndpoint } from './endpoint-record.ts';

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

const PATCH_CALLBACK_LUA = /* lua */ `#!lua flags=allow-oom
-- Change fields of a callback. Its Task, by which transitions are routed, takes over its url, filter and order, and gets a
-- new revision: what was decided on the former ones is refused. A callback may outlive its Task.
-- KEYS[1] Task (hash)   KEYS[2] callback (hash)   KEYS[3] endpoints whose waiting deliveries must end (zset)
-- KEYS[4] key versions (hash)
-- ARGV[1] callback id   ARGV[2] new revision of the Task   ARGV[3] prefix   ARGV[4] now (ms)   ARGV[5] workspace id
-- ARGV[6..] see patchEndpoint
-- Returns {'patched'} | {'missing'} | {'locked', reason, '' for none}.
local prefix = ARGV[3]
${PATCH_ENDPOINT_LUA}
${ACCOUNT_LUA}
local known = redis.call('HMGET', KEYS[2], 'ws', 'b')
if known[1] ~= ARGV[5] then return { 'missing' } end
local lock = patchEndpoint(KEYS[2], KEYS[3], KEYS[4], ARGV[1], tonumber(ARGV[4]), 6)
if lock then return { 'locked', lock } end
if known[2] then grow(KEYS[2], sizeOfCallback(redis.call('HGETALL', KEYS[2])) - known[2]) end
writeAccounts()
if redis.call('EXISTS', KEYS[1]) == 1 then
  local route = redis.call('HMGET', KEYS[2], 'url', 'events', 'ord', 'ordTo')
  redis.call('HSET', KEYS[1], 'cbUrl', route[1], 'cbEvents', route[2], 'rev', ARGV[2])
  if route[3] then redis.call('HSET', KEYS[1], 'cbOrd', route[4] or ${DEFAULT_ORDERING_TIMEOUT_MS})
  else redis.call('HDEL', KEYS[1], 'cbOrd') end
end
return { 'patched' }
`;
