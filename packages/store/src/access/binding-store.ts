import type { WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { readScoredIds, type Keyspace } from '../keys/keys.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';

/** Execution workspaces that one workspace may be bound to. */
export const BINDING_LIMIT = 100;

/** A workspace in which Tasks of another may run (spec section 1). `boundAt`: epoch ms. */
export type Binding = { readonly executionWorkspaceId: WorkspaceId; readonly boundAt: number };

type BindingStoreDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** Epoch ms. */
  readonly now: () => number;
};

const BIND_LUA = /* lua */ `
-- Bind an execution workspace, unless its workspace is bound to as many as it may be. A second run changes nothing.
-- KEYS[1] execution workspaces of the workspace (zset: id → when it was bound, ms)
-- ARGV[1] limit   ARGV[2] now (ms)   ARGV[3] execution workspace
-- Returns when it was bound (ms) | 'full'.
local boundAt = redis.call('ZSCORE', KEYS[1], ARGV[3])
if boundAt then return boundAt end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 'full' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
return ARGV[2]
`;
const BindReply = z.union([z.literal('full'), z.coerce.number()]);

/** Which workspaces the platform has bound to which: whose Tasks may run where. */
export function createBindingStore(deps: BindingStoreDeps) {
  const { redis, keyspace, now } = deps;
  const bind = defineReplicatedScript(deps, BIND_LUA);
  const listOf = (workspaceId: WorkspaceId) => keyspace.of(workspaceId).boundWorkspaces(workspaceId);
  return {
    isBound: async (workspaceId: WorkspaceId, executionWorkspaceId: WorkspaceId): Promise<boolean> =>
      (await redis.zscore(listOf(workspaceId), executionWorkspaceId)) !== null,
    /**
     * Binds the two, or finds them bound.
     * @throws UnavailableError when too few replicas know it in time
     */
    async bind(workspaceId: WorkspaceId, executionWorkspaceId: WorkspaceId): Promise<Binding | 'full'> {
      const reply = BindReply.parse(await bind([listOf(workspaceId)], [BINDING_LIMIT, now(), executionWorkspaceId]));
      return reply === 'full' ? reply : { executionWorkspaceId, boundAt: reply };
    },
    /** The oldest first. */
    async list(workspaceId: WorkspaceId): Promise<Binding[]> {
      const rows = readScoredIds(await redis.zrange(listOf(workspaceId), 0, '-1', 'WITHSCORES'));
      return rows.map(({ id, score }) => ({ executionWorkspaceId: id, boundAt: score }));
    },
    /** False when the two were not bound. Tasks that run there stay as they are. */
    unbind: async (workspaceId: WorkspaceId, executionWorkspaceId: WorkspaceId): Promise<boolean> =>
      (await redis.zrem(listOf(workspaceId), executionWorkspaceId)) > 0,
  };
}
export type BindingStore = ReturnType<typeof createBindingStore>;
