import {
  deliveryIdOf,
  newTestTransitionId,
  NotFoundError,
  renderTestBody,
  UnavailableError,
  type DeliveryId,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import type { EndReply } from '../deliveries/delivery-store.ts';
import type { TestEvent, TestEventStore } from './test-event-store.ts';
import type { TestReplies } from './test-replies.ts';

/** Tells operators of test events. */
export type TestEventReport = {
  readonly created: (event: TestEvent) => void;
  /** No worker took it. */
  readonly withdrawn: (event: TestEvent, reply: EndReply) => void;
  /** How the operation ended; without an outcome nobody knows. */
  readonly ended: (endpointId: string, outcome: { readonly delivered: boolean } | undefined) => void;
};

export type SendTestEventDeps = {
  readonly findReceiver: (workspaceId: WorkspaceId, id: EndpointId) => Promise<unknown>;
  readonly countWorkers: (now: number) => Promise<number>;
  readonly testEvents: Pick<TestEventStore, 'create' | 'claim'>;
  readonly cancel: (workspaceId: WorkspaceId, id: DeliveryId, now: number) => Promise<EndReply>;
  readonly listenForReplies: (id: DeliveryId) => Promise<TestReplies>;
  readonly report: TestEventReport;
  readonly now: () => number;
};

/** What came of a test event (spec section 4). */
export type TestOutcome =
  | { readonly delivered: boolean; readonly receiverStatus: number }
  | { readonly delivered: false; readonly error: string };

/** How long a worker may take to start the send, in ms. */
const PICK_UP_MS = 5_000;
/** On top of the worker's own deadline, for its answer to come through, in ms. */
const ANSWER_SLACK_MS = 2_000;

/**
 * Has a worker send a test event now, and waits for what came of it.
 * @throws UnavailableError when no worker is there, or none answers; the event is then never sent later
 */
export function createSendTestEvent(deps: SendTestEventDeps) {
  const send = async (workspaceId: WorkspaceId, endpointId: EndpointId): Promise<TestOutcome> => {
    const createdAt = deps.now();
    await deps.findReceiver(workspaceId, endpointId);
    if ((await deps.countWorkers(createdAt)) === 0) throw new UnavailableError('no worker is running to send it');
    const transitionId = newTestTransitionId();
    const deliveryId = deliveryIdOf(transitionId, endpointId);
    const replies = await deps.listenForReplies(deliveryId);
    try {
      const body = renderTestBody(transitionId, createdAt);
      const event = { transitionId, deliveryId, endpointId, workspaceId, body, createdAt };
      if ((await deps.testEvents.create(event)) === 'missing') throw new NotFoundError('receiver', endpointId);
      deps.report.created(event);
      return await waitForOutcome(replies, async () => {
        // Whoever claims it first decides: a worker that comes late finds it claimed and doesn't send it.
        const claim = await deps.testEvents.claim(workspaceId, deliveryId, deps.now());
        if (claim !== 'claimed') return false;
        deps.report.withdrawn(event, await deps.cancel(workspaceId, deliveryId, deps.now()));
        return true;
      });
    } finally {
      await replies.close();
    }
  };
  return async function sendTestEvent(workspaceId: WorkspaceId, endpointId: EndpointId): Promise<TestOutcome> {
    try {
      const outcome = await send(workspaceId, endpointId);
      deps.report.ended(endpointId, outcome);
      return outcome;
    } catch (error) {
      if (error instanceof UnavailableError) deps.report.ended(endpointId, undefined);
      throw error;
    }
  };
}

async function waitForOutcome(replies: TestReplies, withdraw: () => Promise<boolean>): Promise<TestOutcome> {
  const started = await replies.next(PICK_UP_MS);
  if (!started && (await withdraw())) throw new UnavailableError('no worker took the test event; it was withdrawn');
  const deadlineMs = started?.kind === 'sending' ? started.deadlineMs : 0;
  const outcome = started && started.kind !== 'sending' ? started : await replies.next(deadlineMs + ANSWER_SLACK_MS);
  if (outcome?.kind === 'answered') {
    return { delivered: outcome.status >= 200 && outcome.status < 300, receiverStatus: outcome.status };
  }
  if (outcome?.kind === 'unanswered') return { delivered: false, error: outcome.error };
  throw new UnavailableError('the worker that took the test event gave no answer; it is not sent again');
}
