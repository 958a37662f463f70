import { callbackIdOf, deliveryIdOf, originOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { createDeliveryClient, type DeliveryView } from './delivery-client.ts';
import { readDelivery, shardKeys } from './delivery-state.ts';
import type { Herald } from './start-herald.ts';
import type { WorkspaceClient } from './workspace-client.ts';

/** Delivers to a url that was written into the record behind the API's back, and returns what came of it. */
export async function deliverToPlanted(herald: Herald, workspace: WorkspaceClient, url: string): Promise<DeliveryView> {
  const { id: taskId } = await workspace.createTask({ callback: { url: 'https://hooks.example.com/' } });
  const callbackId = callbackIdOf(taskId);
  const origin = URL.canParse(url) ? { dst: originOf(workspace.id, url) } : {};
  await herald.redis.hset(shardKeys().endpoint(callbackId), { url, ...origin });
  const { transitionId } = await workspace.closeTask(taskId);
  const deliveryId = deliveryIdOf(transitionId, callbackId);
  await waitFor(`the delivery to ${url}`, () => readDelivery(herald.redis, deliveryId), {
    until: ({ status }) => status !== 'pending',
    deadlineMs: 20_000,
  });
  return await createDeliveryClient(workspace).read(deliveryId);
}
