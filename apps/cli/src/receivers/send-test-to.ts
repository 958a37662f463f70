import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createSendTestEvent, type TestOutcome } from '@herald/store/test-events/send-test-event';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTestReplyListener } from '@herald/store/test-events/test-replies';
import { createWorkerPresence } from '@herald/store/service-state/worker-presence';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Herald } from '../context/open-herald.ts';

/** The test operation, as the API's: a worker sends, and this waits. @throws UnavailableError when no worker answers */
export async function sendTestTo(
  { config, redis, keyspace, connect, now }: Herald,
  { workspaceId, id }: EndpointRecord,
): Promise<TestOutcome> {
  const keys = keyspace.of(workspaceId);
  const retention = createDeliveryRetention(config.retentionMs);
  const subscriber = await connect();
  const deliveries = createDeliveryStore({ redis, keys, retention });
  const sendTestEvent = createSendTestEvent({
    findReceiver: createReceiverStore({ redis, keyspace }).find,
    countWorkers: createWorkerPresence(redis).count,
    testEvents: createTestEventStore({ redis, keyspace, retention }),
    cancel: (_workspaceId, deliveryId, at) => deliveries.cancel(deliveryId, 'not_sent_in_time', at),
    listenForReplies: createTestReplyListener(subscriber),
    report: { created: () => undefined, withdrawn: () => undefined, ended: () => undefined },
    now,
  });
  return await sendTestEvent(workspaceId, id);
}
