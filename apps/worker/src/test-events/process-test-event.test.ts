import type { Delivery } from '@herald/core';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { TestReply } from '@herald/store/test-events/test-replies';
import { processTestEvent } from './process-test-event.ts';

const pending: Delivery = {
  id: 'dlv_1',
  workspaceId: 'ws_1',
  endpointId: 'wh_1',
  transitionId: 'trn_1',
  event: 'webhook.test',
  status: 'pending',
  createdAt: 0,
  scheduledAt: 0,
  tries: 0,
  owedAttempts: 0,
};

/** Processes a test event whose receiver is gone, and returns what was done. */
async function processUnsendable(delivery: Delivery) {
  const done: (string | TestReply)[] = [];
  const loaded = { kind: 'loaded', delivery, body: Buffer.from('{}') } as LoadedDelivery;
  const never = () => Promise.reject(new Error('nothing may be sent'));
  const verdict = await processTestEvent(
    {
      deliveries: {
        load: () => Promise.resolve(loaded),
        record: never,
        giveUp: never,
        cancel: (_id: string, reason: string) => Promise.resolve(done.push(`canceled: ${reason}`) as never),
      },
      claim: never,
      makeAttempt: never,
      reply: (_id, reply) => Promise.resolve(void done.push(reply)),
      report: {
        attempted: () => undefined,
        ended: () => undefined,
        purged: () => undefined,
        bodyLost: () => undefined,
        told: () => undefined,
        noticeLeft: () => undefined,
      },
      destinationLimit: 1,
      platform: undefined,
      deadlineMs: 1,
      now: () => 0,
    },
    { id: delivery.id, lease: 'lease', isProbe: false },
    new AbortController().signal,
  );
  expect(verdict).toEqual({ kind: 'finished' });
  return done;
}

const REMOVED: TestReply = { kind: 'unanswered', error: 'receiver_removed' };

test('whoever asked for a test of a receiver that was removed meanwhile is told so, and does not wait', async () => {
  expect(await processUnsendable(pending)).toEqual([REMOVED, 'canceled: receiver_removed']);
  expect(await processUnsendable({ ...pending, status: 'canceled', reason: 'receiver_removed' })).toEqual([REMOVED]);
});

test('a test event that was sent before is not spoken of again', async () => {
  expect(await processUnsendable({ ...pending, status: 'delivered' })).toEqual([]);
});
