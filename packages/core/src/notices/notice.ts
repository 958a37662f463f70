import { z } from 'zod';
import { ATTEMPT_ERRORS } from '../codes/attempt-errors.ts';
import { codesOf, KnownText } from '../codes/code-table.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { NoticeEvent } from '../events.ts';
import {
  CallbackIdText,
  type DeliveryId,
  deliveryIdOf,
  DeliveryIdText,
  isCallbackId,
  noticeIdOf,
  ReceiverIdText,
  TaskIdText,
  type TransitionId,
  TransitionIdText,
} from '../ids/ids.ts';
import { toLeavingJson } from '../text.ts';

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

const EXAMPLE = {
  id: 'trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
  created_at: '2030-01-31T12:00:00.000Z',
  workspace_id: 'ws_acme',
  since: '2030-01-31T10:58:12.345Z',
  last_attempt: {
    delivery_id: 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
    at: '2030-01-31T11:59:59.900Z',
    status: 503,
  },
};

const RECEIVER = { id: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd', url: 'https://hooks.example.com/herald' };

const Url = z
  .string()
  .meta({ description: 'As its owner gave it. It may hold a token of theirs: mail only its host.' });
const Time = z.iso.datetime();

const common = {
  id: TransitionIdText.meta({ description: 'Id of the fact.' }),
  created_at: Time.meta({ description: 'When it happened.' }),
  workspace_id: z.string().meta({ description: 'The workspace that the receiver or the callback belongs to.' }),
  since: Time.meta({ description: 'The first failure since the last success.' }),
  last_attempt: z
    .object({
      delivery_id: DeliveryIdText,
      at: Time,
      status: z.int().meta({ description: "The endpoint's HTTP status." }).exactOptional(),
      error: KnownText(codesOf(ATTEMPT_ERRORS))
        .meta({ description: 'Why no status came: the `error` of an attempt.' })
        .exactOptional(),
    })
    .meta({ id: 'NoticeAttempt', description: 'The attempt that made it a fact.' }),
};
const receiver = z.object({ id: ReceiverIdText, url: Url }).meta({ id: 'NoticeReceiver' });
const callback = z.object({ id: CallbackIdText, url: Url, task_id: TaskIdText }).meta({ id: 'NoticeCallback' });
const failures = z.int().min(1).meta({ description: 'Failures in a row.' });
const reason = KnownText(['gone', 'failing']).meta({
  description: '`gone`: it answered 410. `failing`: ten failures in a row over the time that the service allows.',
});

function example(event: NoticeEvent, more: object) {
  return [{ ...EXAMPLE, event, ...more }];
}

/** The schema of each notice's body. The body is made by `draftNotice`, and by the script that makes the fact. */
export const NOTICE_PAYLOADS = {
  'receiver.failing': z
    .object({ ...common, event: z.literal('receiver.failing'), receiver, failures })
    .meta({ id: 'ReceiverFailingPayload', examples: example('receiver.failing', { receiver: RECEIVER, failures: 5 }) }),
  'receiver.disabled': z.object({ ...common, event: z.literal('receiver.disabled'), receiver, reason, failures }).meta({
    id: 'ReceiverDisabledPayload',
    examples: example('receiver.disabled', { receiver: RECEIVER, reason: 'failing', failures: 12 }),
  }),
  'receiver.recovered': z.object({ ...common, event: z.literal('receiver.recovered'), receiver }).meta({
    id: 'ReceiverRecoveredPayload',
    examples: example('receiver.recovered', {
      receiver: RECEIVER,
      last_attempt: { ...EXAMPLE.last_attempt, status: 204 },
    }),
  }),
  'callback.disabled': z.object({ ...common, event: z.literal('callback.disabled'), callback, reason, failures }).meta({
    id: 'CallbackDisabledPayload',
    examples: example('callback.disabled', {
      callback: {
        id: 'cb_01kes8t4a0q3m1y5b9z7x2c6vd',
        url: 'https://hooks.example.com/invoice-42',
        task_id: 'task_01kes8t4a0q3m1y5b9z7x2c6vd',
      },
      reason: 'gone',
      failures: 1,
    }),
  }),
} satisfies Record<NoticeEvent, z.ZodType>;
