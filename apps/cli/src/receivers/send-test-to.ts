import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createSendTestEvent } from '@herald/store/test-events/send-test-event';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTestReplyListener } from '@herald/store/test-events/test-replies';
import { createWorkerPresence } from '@herald/store/service-state/worker-presence';
import type { EventName } from '@herald/core';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Herald } from '../context/open-herald.ts';

/** Has a worker send a test event or a sample, and waits for the outcome. @throws UnavailableError when none answers */
export async function sendTestTo(herald: Herald, { workspaceId, id }: EndpointRecord, event: EventName) {
  const { config, redis, keyspace, connect, now } = herald;
  const retention = createDeliveryRetention(config.retentionMs, config.history !== undefined);
  const deliveries = createDeliveryStore({ redis, keys: keyspace.of(workspaceId), retention });
  const sendTestEvent = createSendTestEvent({
    findReceiver: createReceiverStore({ redis, keyspace }).find,
    countWorkers: createWorkerPresence(redis).count,
    testEvents: createTestEventStore({ redis, keyspace, retention }),
    cancel: (_workspaceId, deliveryId, at) => deliveries.cancel(deliveryId, 'not_sent_in_time', at),
    listenForReplies: createTestReplyListener(await connect()),
    report: { created: () => undefined, withdrawn: () => undefined, ended: () => undefined },
    now,
  });
  return await sendTestEvent(workspaceId, id, event);
}
