import type { Delivery } from '@herald/core';
import { ProxyFailedError } from '@herald/egress/egress-errors';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { TestReply } from '@herald/store/test-events/test-replies';
import { processTestEvent, type ProcessTestEventDeps } from './deliver-test-event.ts';

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

const never = () => Promise.reject(new Error('nothing may be sent'));

/** Processes a test event that can't be sent, and returns what was done. Without more its receiver is gone. */
async function processUnsendable(
  delivery: Delivery,
  more: Partial<Pick<ProcessTestEventDeps, 'claim' | 'makeAttempt'>> & { endpoint?: EndpointRecord } = {},
) {
  const { endpoint, claim = never, makeAttempt = never } = more;
  const done: (string | TestReply)[] = [];
  const loaded = { kind: 'loaded', delivery, endpoint, body: Buffer.from('{}') } as LoadedDelivery;
  const verdict = await processTestEvent(
    {
      deliveries: {
        load: () => Promise.resolve(loaded),
        record: never,
        giveUp: never,
        cancel: (_id: string, reason: string) => Promise.resolve(done.push(`canceled: ${reason}`) as never),
      },
      claim,
      makeAttempt,
      reply: (_id, reply) => Promise.resolve(void done.push(reply)),
      report: {
        attempted: () => undefined,
        ended: () => undefined,
        purged: () => undefined,
        bodyLost: () => undefined,
        told: () => undefined,
        noticeLeft: () => undefined,
      },
      groupLimit: 1,
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

test('a receiver that was locked meanwhile gets no test event', async () => {
  const endpoint = { id: 'wh_1', enabled: false, disabledReason: 'locked' } as EndpointRecord;
  const told: TestReply = { kind: 'unanswered', error: 'receiver_disabled' };
  expect(await processUnsendable(pending, { endpoint })).toEqual([told, 'canceled: receiver_disabled']);
});

test('a test event that was sent before is not spoken of again', async () => {
  expect(await processUnsendable({ ...pending, status: 'delivered' })).toEqual([]);
});

test('a test event that another worker has claimed is not sent again, and whoever asked for it is told', async () => {
  const endpoint = { id: 'wh_1' } as EndpointRecord;
  const done = await processUnsendable(pending, { endpoint, claim: () => Promise.resolve('taken') });
  expect(done).toEqual([{ kind: 'unanswered', error: 'not_sent_in_time' }, 'canceled: not_sent_in_time']);
});

test('a proxy that fails keeps nobody waiting, and the receiver gets no attempt in its record', async () => {
  const done = await processUnsendable(pending, {
    endpoint: { id: 'wh_1' } as EndpointRecord,
    claim: () => Promise.resolve('claimed'),
    makeAttempt: () => Promise.reject(new ProxyFailedError('connect_failed')),
  });
  expect(done).toEqual([
    { kind: 'sending', deadlineMs: 1 },
    { kind: 'unanswered', error: 'not_sent_in_time' },
    'canceled: not_sent_in_time',
  ]);
});
