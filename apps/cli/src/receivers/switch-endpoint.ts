import { isCallbackId, NotFoundError, type EndpointId } from '@herald/core';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { findOwner, type Herald } from '../context/open-herald.ts';

/**
 * Enables or disables a receiver or a callback.
 * @returns whether that changed anything
 * @throws NotFoundError
 */
export async function switchEndpoint(herald: Herald, id: EndpointId, enabled: boolean): Promise<boolean> {
  const thing = isCallbackId(id) ? 'callback' : 'receiver';
  const store = isCallbackId(id) ? createCallbackStore(herald) : createReceiverStore(herald);
  const workspaceId = await findOwner(herald, thing, id);
  const found = await store.find(workspaceId, id);
  if (found?.enabled === enabled) return false;
  if (!found || !(await store.patch(workspaceId, id, { enabled }, herald.now()))) throw new NotFoundError(thing, id);
  return true;
}
