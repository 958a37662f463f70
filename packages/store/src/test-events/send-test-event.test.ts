import type { EventName } from '@herald/core';
import { createSendTestEvent } from './send-test-event.ts';
import type { TestEvent } from './test-event-store.ts';
import type { TestReply } from './test-replies.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

/** Sends a test event to a worker that replies like this, or too late; returns what was created, and what came of it. */
async function send(event: EventName, ...replies: readonly (TestReply | undefined)[]) {
  const created: TestEvent[] = [];
  const left = [...replies];
  const sendTestEvent = createSendTestEvent({
    findReceiver: () => Promise.resolve(),
    countWorkers: () => Promise.resolve(1),
    testEvents: {
      create: (each) => Promise.resolve(created.push(each) > 0 ? 'created' : 'missing'),
      claim: () => Promise.resolve('taken'),
    },
    cancel: () => Promise.reject(new Error('a worker took it')),
    listenForReplies: () =>
      Promise.resolve({ next: () => Promise.resolve(left.shift()), close: () => Promise.resolve() }),
    report: { created: () => undefined, withdrawn: () => undefined, ended: () => undefined },
    now: () => NOW,
  });
  const outcome = await sendTestEvent('ws_1', 'wh_1', event);
  return { created, outcome };
}

const SENDING: TestReply = { kind: 'sending', deadlineMs: 1 };

test.each<{ reply: TestReply; outcome: object }>([
  {
    reply: { kind: 'answered', status: 500, durationMs: 7, answer: 'no' },
    outcome: { delivered: false, receiverStatus: 500, durationMs: 7, answer: 'no' },
  },
  {
    reply: { kind: 'answered', status: 204, durationMs: 0, answer: '' },
    outcome: { delivered: true, receiverStatus: 204, durationMs: 0 },
  },
  {
    reply: { kind: 'answered', status: 200, durationMs: 7, answer: 'no', bodyNote: 'extra_bytes' },
    outcome: { delivered: true, receiverStatus: 200, durationMs: 7, answer: 'no', bodyNote: 'extra_bytes' },
  },
  {
    reply: { kind: 'unanswered', error: 'dns_failed', durationMs: 7 },
    outcome: { delivered: false, receiverStatus: null, error: 'dns_failed', durationMs: 7 },
  },
  // Nothing was sent, or a worker of release 0.1.0 sent it.
  {
    reply: { kind: 'unanswered', error: 'receiver_removed' },
    outcome: { delivered: false, receiverStatus: null, error: 'receiver_removed' },
  },
  { reply: { kind: 'answered', status: 200 }, outcome: { delivered: true, receiverStatus: 200 } },
])('of $reply is told $outcome, with the id of the delivery', async ({ reply, outcome: told }) => {
  const { outcome, created } = await send('webhook.test', SENDING, reply);
  expect(outcome).toEqual({ ...told, deliveryId: created[0]?.deliveryId });
});

test('a sample has the body of its event, and is kept as one; a test event is none', async () => {
  const answered: TestReply = { kind: 'answered', status: 200 };
  const [sample] = (await send('task.done', SENDING, answered)).created;
  expect(sample).toMatchObject({ sampleOf: 'task.done', endpointId: 'wh_1', createdAt: NOW });
  expect(JSON.parse(sample?.body ?? '')).toMatchObject({ id: sample?.transitionId, event: 'task.done' });
  const [plain] = (await send('webhook.test', SENDING, answered)).created;
  expect(plain).not.toHaveProperty('sampleOf');
  expect(JSON.parse(plain?.body ?? '')).toMatchObject({ event: 'webhook.test' });
});

test('an event that a worker took just before it was withdrawn is the worker’s: its outcome is waited for', async () => {
  const { outcome } = await send('webhook.test', undefined, SENDING, { kind: 'answered', status: 200 });
  expect(outcome).toMatchObject({ delivered: true, receiverStatus: 200 });
});

test('an event that no worker takes is withdrawn and canceled, and the caller is told', async () => {
  const told: string[] = [];
  const sendTestEvent = createSendTestEvent({
    findReceiver: () => Promise.resolve(),
    countWorkers: () => Promise.resolve(1),
    testEvents: { create: () => Promise.resolve('created'), claim: () => Promise.resolve('claimed') },
    cancel: (workspaceId, id, now) => {
      told.push(`cancel ${workspaceId} ${id.slice(0, 4)} ${now - NOW}`);
      return Promise.resolve({ kind: 'ended', event: 'webhook.test' });
    },
    listenForReplies: () => Promise.resolve({ next: () => Promise.resolve(undefined), close: () => Promise.resolve() }),
    report: {
      created: () => undefined,
      withdrawn: (_event, { kind }) => told.push(`withdrawn: ${kind}`),
      ended: (_endpointId, outcome) => told.push(outcome ? 'ended' : 'ended without an outcome'),
    },
    now: () => NOW,
  });
  await expect(sendTestEvent('ws_1', 'wh_1', 'webhook.test')).rejects.toThrow('no worker took the test event');
  expect(told).toEqual(['cancel ws_1 dlv_ 0', 'withdrawn: ended', 'ended without an outcome']);
});
