import { isCallbackId, NotFoundError, type EndpointId } from '@herald/core';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { findOwner, type Herald } from '../context/open-herald.ts';

/** What a receiver or a callback is to become. A lock can have a reason, which its customer reads. */
export type Switch =
  | { readonly to: 'enabled' | 'disabled' }
  | { readonly to: 'locked'; readonly reason: string | undefined };

/**
 * Enables, disables or locks a receiver or a callback, as the platform. Enabling lifts a lock; disabling leaves one.
 * @returns whether that changed anything, and whether it was locked before
 * @throws NotFoundError
 */
export async function switchEndpoint(herald: Herald, id: EndpointId, change: Switch) {
  const thing = isCallbackId(id) ? 'callback' : 'receiver';
  const store = isCallbackId(id) ? createCallbackStore(herald) : createReceiverStore(herald);
  const workspaceId = await findOwner(herald, thing, id);
  const found = await store.find(workspaceId, id);
  if (!found) throw new NotFoundError(thing, id);
  const wasLocked = found.disabledReason === 'locked';
  const isSame =
    change.to === 'locked'
      ? wasLocked && found.lockedReason === change.reason
      : found.enabled === (change.to === 'enabled');
  if (isSame) return { isChanged: false, wasLocked, workspaceId };
  const now = herald.now();
  const isFound =
    change.to === 'locked'
      ? await store.lock(workspaceId, id, change.reason, now)
      : change.to === 'enabled'
        ? await store.unlock(workspaceId, id, now)
        : await store.patch(workspaceId, id, { enabled: false, by: 'platform' }, now);
  if (!isFound) throw new NotFoundError(thing, id);
  return { isChanged: true, wasLocked, workspaceId };
}
