import {
  deliveryIdOf,
  newSampleTaskId,
  newSampleTransitionId,
  newTestTransitionId,
  NotFoundError,
  renderSampleBody,
  renderTestBody,
  UnavailableError,
  type DeliveryId,
  type EndpointId,
  type EventName,
  type WorkspaceId,
} from '@herald/core';
import type { EndReply } from '../deliveries/delivery-store.ts';
import { randomToken } from '../redis/random-token.ts';
import type { TestEvent, TestEventStore } from './test-event-store.ts';
import type { TestReplies, TestReplyListener } from './test-replies.ts';

/** Tells operators about test events. */
export type TestEventReport = {
  readonly created: (event: TestEvent) => void;
  /** No worker took it. */
  readonly withdrawn: (event: TestEvent, reply: EndReply) => void;
  /** The outcome is absent when nothing is known of it. */
  readonly ended: (endpointId: string, outcome: { readonly delivered: boolean } | undefined) => void;
};

export type SendTestEventDeps = {
  readonly findReceiver: (workspaceId: WorkspaceId, id: EndpointId) => Promise<unknown>;
  readonly countWorkers: (now: number) => Promise<number>;
  readonly testEvents: TestEventStore;
  readonly cancel: (workspaceId: WorkspaceId, id: DeliveryId, now: number) => Promise<EndReply>;
  readonly listenForReplies: TestReplyListener;
  readonly report: TestEventReport;
  readonly now: () => number;
};

/** The result of a test event (spec section 4). */
export type TestOutcome = {
  readonly delivered: boolean;
  /** Null when none came; `error` says why. */
  readonly receiverStatus: number | null;
  readonly error?: string;
  readonly answer?: string;
  /** What was odd about the answer. */
  readonly bodyNote?: string;
  readonly deliveryId: DeliveryId;
  /** Absent when nothing was sent. */
  readonly durationMs?: number;
};

/** How long a worker may take to start the send, in ms. */
const PICK_UP_MS = 5_000;
/** How long the worker's answer may take beyond its own deadline, in ms. */
const ANSWER_SLACK_MS = 2_000;

/** The transition of a test event: of no Task, or a sample of an event of a Task that there is not. */
function makeTransition(event: EventName, createdAt: number) {
  if (event === 'webhook.test') {
    const transitionId = newTestTransitionId();
    return { transitionId, body: renderTestBody(transitionId, createdAt) };
  }
  const transitionId = newSampleTransitionId();
  const facts = { transitionId, taskId: newSampleTaskId(createdAt), createdAt };
  return { transitionId, body: renderSampleBody(event, facts), sampleOf: event };
}

/**
 * Lets a worker send a test event now, or a sample of another event, and waits for the outcome.
 * @throws UnavailableError when no worker is there, or none answers; the event is not sent later either
 * @throws ReceiverLockedError
 */
export function createSendTestEvent(deps: SendTestEventDeps) {
  const { testEvents, report, now } = deps;
  const send = async (workspaceId: WorkspaceId, endpointId: EndpointId, name: EventName): Promise<TestOutcome> => {
    const createdAt = now();
    await deps.findReceiver(workspaceId, endpointId);
    if ((await deps.countWorkers(createdAt)) === 0) throw new UnavailableError('no worker is running to send it');
    const transition = makeTransition(name, createdAt);
    const deliveryId = deliveryIdOf(transition.transitionId, endpointId);
    const replies = await deps.listenForReplies(deliveryId);
    try {
      const event = { ...transition, deliveryId, endpointId, workspaceId, createdAt };
      if ((await testEvents.create(event)) === 'missing') throw new NotFoundError('receiver', endpointId);
      report.created(event);
      const outcome = await waitForOutcome(replies, async () => {
        // The first claim decides: a worker that comes later finds the event claimed and doesn't send it.
        const claim = await testEvents.claim(workspaceId, deliveryId, randomToken());
        if (claim !== 'claimed') return false;
        report.withdrawn(event, await deps.cancel(workspaceId, deliveryId, now()));
        return true;
      });
      return { ...outcome, deliveryId };
    } finally {
      await replies.close();
    }
  };
  return async function sendTestEvent(
    workspaceId: WorkspaceId,
    endpointId: EndpointId,
    event: EventName,
  ): Promise<TestOutcome> {
    const outcome = await send(workspaceId, endpointId, event).catch((error: unknown) => {
      if (error instanceof UnavailableError) report.ended(endpointId, undefined);
      throw error;
    });
    report.ended(endpointId, outcome);
    return outcome;
  };
}

async function waitForOutcome(replies: TestReplies, withdraw: () => Promise<boolean>) {
  let reply = await replies.next(PICK_UP_MS);
  if (!reply && (await withdraw())) throw new UnavailableError('no worker took the test event; it was withdrawn');
  // A worker took it in the last moment: its word is on the way.
  reply ??= await replies.next(ANSWER_SLACK_MS);
  if (reply?.kind === 'sending') reply = await replies.next(reply.deadlineMs + ANSWER_SLACK_MS);
  if (!reply || reply.kind === 'sending') {
    throw new UnavailableError('the worker that took the test event gave no answer; it is not sent again');
  }
  const duration = reply.durationMs === undefined ? {} : { durationMs: reply.durationMs };
  if (reply.kind === 'unanswered') return { delivered: false, receiverStatus: null, error: reply.error, ...duration };
  const { status, answer, bodyNote } = reply;
  const isDelivered = status >= 200 && status < 300;
  return {
    delivered: isDelivered,
    receiverStatus: status,
    ...(answer && { answer }),
    ...(bodyNote !== undefined && { bodyNote }),
    ...duration,
  };
}
