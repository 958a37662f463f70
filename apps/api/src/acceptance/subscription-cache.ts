import type { WorkspaceId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';
import type { Subscriptions } from '@herald/store/endpoints/receiver-store';

const LIMIT = 10_000;

/**
 * Remembers workspaces' subscriptions. What it says may be old: the commit checks the version and refuses, and then
 * the caller forgets it here and asks again.
 */
export function createSubscriptionCache(load: (workspaceId: WorkspaceId) => Promise<Subscriptions>) {
  const cache = createBoundedMap<WorkspaceId, Subscriptions>(LIMIT);
  return {
    async find(workspaceId: WorkspaceId): Promise<Subscriptions> {
      const known = cache.get(workspaceId);
      if (known) return known;
      const subscriptions = await load(workspaceId);
      cache.set(workspaceId, subscriptions);
      return subscriptions;
    },
    forget(workspaceId: WorkspaceId): void {
      cache.delete(workspaceId);
    },
  };
}
