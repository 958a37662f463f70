import { NotFoundError, type DeliveryId } from '@herald/core';
import { createDeliveryLog } from '@herald/store/deliveries/delivery-log';
import { createOwnerLookUp } from '@herald/store/operators/owner-look-up';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import type { Herald } from '../context/open-herald.ts';

/** @throws NotFoundError */
export async function findDelivery(herald: Herald, id: DeliveryId) {
  const { redis, keyspace } = herald;
  const workspaceId = await createOwnerLookUp(herald).ofDelivery(id);
  const found = workspaceId === undefined ? undefined : await createDeliveryLog(herald).find(workspaceId, id);
  const description = workspaceId && (await describeDelivery(redis, keyspace.of(workspaceId), id));
  if (!found || !description) throw new NotFoundError('delivery', id);
  return { description, attempts: found.attempts };
}
