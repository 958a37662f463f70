import type { WorkspaceId } from '@herald/core';
import { readScoredIds, type Keyspace } from '../keys/keys.ts';
import { demandReplicated, type ReplicatedStoreDeps } from '../redis/await-replication.ts';

/** Execution workspaces that one workspace may be bound to. */
export const BINDING_LIMIT = 100;

/** A workspace in which Tasks of another may run (spec section 1). `boundAt`: epoch ms. */
export type Binding = { readonly executionWorkspaceId: WorkspaceId; readonly boundAt: number };

type BindingStoreDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Which workspaces the platform has bound to which: whose Tasks may run where. */
export function createBindingStore({ redis, awaitReplication, keyspace, now }: BindingStoreDeps) {
  const listOf = (workspaceId: WorkspaceId) => keyspace.of(workspaceId).boundWorkspaces(workspaceId);
  const findBoundAt = async (workspaceId: WorkspaceId, executionWorkspaceId: WorkspaceId) =>
    await redis.zscore(listOf(workspaceId), executionWorkspaceId);
  return {
    isBound: async (workspaceId: WorkspaceId, executionWorkspaceId: WorkspaceId): Promise<boolean> =>
      (await findBoundAt(workspaceId, executionWorkspaceId)) !== null,
    /**
     * Binds the two, or finds them bound. Some more may be bound at once than the limit says.
     * @throws UnavailableError when too few replicas know it in time
     */
    async bind(workspaceId: WorkspaceId, executionWorkspaceId: WorkspaceId): Promise<Binding | 'full'> {
      const key = listOf(workspaceId);
      const known = await findBoundAt(workspaceId, executionWorkspaceId);
      if (known === null) {
        if ((await redis.zcard(key)) >= BINDING_LIMIT) return 'full';
        await redis.zadd(key, 'NX', now(), executionWorkspaceId);
      }
      await demandReplicated(awaitReplication, { key });
      const boundAt = known ?? (await findBoundAt(workspaceId, executionWorkspaceId));
      return { executionWorkspaceId, boundAt: Number(boundAt ?? now()) };
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
