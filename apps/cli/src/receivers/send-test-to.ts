import {
  createDeliveryRetention,
  createDeliveryStore,
  createReceiverStore,
  createSendTestEvent,
  createTestEventStore,
  createTestReplyListener,
  createWorkerPresence,
  type EndpointRecord,
  type TestOutcome,
} from '@herald/infra';
import type { Herald } from '../open-herald.ts';

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
