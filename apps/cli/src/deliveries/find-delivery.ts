import { NotFoundError, type DeliveryId } from '@herald/core';
import { createDeliveryLog, createOwnerLookUp, describeDeliveries } from '@herald/infra';
import type { Herald } from '../open-herald.ts';

/** @throws NotFoundError */
export async function findDelivery(herald: Herald, id: DeliveryId) {
  const { redis, keyspace } = herald;
  const workspaceId = await createOwnerLookUp(herald).ofDelivery(id);
  const found = workspaceId === undefined ? undefined : await createDeliveryLog(herald).find(workspaceId, id);
  const [description] =
    workspaceId === undefined ? [] : await describeDeliveries(redis, keyspace.of(workspaceId), [id]);
  if (!found || !description) throw new NotFoundError('delivery', id);
  return { description, attempts: found.attempts };
}
