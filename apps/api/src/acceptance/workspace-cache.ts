import type { TaskId, WorkspaceId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';

const LIMIT = 50_000;

/** Remembers the workspaces of Tasks, which never change; of a Task that is gone the store knows. What isn't found is asked for again. */
export function createWorkspaceCache(load: (id: TaskId) => Promise<WorkspaceId | undefined>) {
  const cache = createBoundedMap<TaskId, WorkspaceId>(LIMIT);
  return async function findWorkspace(id: TaskId): Promise<WorkspaceId | undefined> {
    const known = cache.get(id);
    if (known !== undefined) return known;
    const workspaceId = await load(id);
    if (workspaceId !== undefined) cache.set(id, workspaceId);
    return workspaceId;
  };
}
