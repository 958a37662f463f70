import { toLeavingJson } from '../text.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { deliveryIdOf, isCallbackId, noticeIdOf, type DeliveryId, type TransitionId } from '../ids/ids.ts';

/**
 * The endpoint of notices. It has no record: its url and its secret are settings of the workers. No other endpoint has
 * such an id.
 */
export const PLATFORM = 'platform';

/** What a notice about an attempt says whatever the attempt changed. The script that records the attempt adds the rest. */
export type NoticeDraft = {
  readonly transitionId: TransitionId;
  readonly deliveryId: DeliveryId;
  /** The first part of the event's name. */
  readonly kind: 'receiver' | 'callback';
  /** Fields of the body, as JSON without the braces. */
  readonly fields: string;
};

/** An attempt: its start (epoch ms), and the HTTP status or the error code that came of it. */
type Attempt = { readonly at: number; readonly status?: number; readonly error?: string };

/** @param now epoch ms at which the attempt is recorded */
export function draftNotice(delivery: Delivery, endpoint: Endpoint, attempt: Attempt, now: number): NoticeDraft {
  const { id, url, workspaceId } = endpoint;
  const transitionId = noticeIdOf(id, delivery.id, attempt.at);
  const isCallback = isCallbackId(id);
  const fields = {
    created_at: new Date(now).toISOString(),
    workspace_id: workspaceId,
    ...(isCallback ? { callback: { id, url, task_id: delivery.taskId } } : { receiver: { id, url } }),
    last_attempt: {
      delivery_id: delivery.id,
      at: new Date(attempt.at).toISOString(),
      status: attempt.status,
      error: attempt.error,
    },
  };
  return {
    transitionId,
    deliveryId: deliveryIdOf(transitionId, PLATFORM),
    kind: isCallback ? 'callback' : 'receiver',
    fields: toLeavingJson(fields).slice(1, -1),
  };
}
