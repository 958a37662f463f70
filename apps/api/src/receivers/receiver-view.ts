import {
  ATTEMPT_ERRORS,
  BODY_NOTES,
  codesOf,
  DEFAULT_ORDERING_TIMEOUT_MS,
  DELIVERY_REASONS,
  DeliveryIdText,
  DISABLED_REASONS,
  type EndpointDisabling,
  type EndpointOrdering,
  EventName,
  isCodeOf,
  MaxRetryHours,
  orderingTimeoutSecondsOf,
  ORDERINGS,
  RateLimit,
  ReceiverIdText,
  writeDuration,
} from '@herald/core';
import type { LastFailure } from '@herald/store/endpoints/endpoint-record';
import { judgeEndpointHealth } from '@herald/store/endpoints/receiver-store';
import type { TestOutcome as SentTestEvent } from '@herald/store/test-events/send-test-event';
import type { Response } from 'express';
import { z } from 'zod';
import { AnswerText, AttemptErrorCode, BodyNoteCode, toAttemptError } from '../deliveries/delivery-view.ts';
import { etagOf } from '../http/headers.ts';
import { ShownOnce, SIGNING_SECRET_EXAMPLE, SigningSecret, TimeText, toTime } from '../http/answer-fields.ts';
import type { ReceiverWithHealth } from './manage-receivers.ts';

const ReceiverHealth = z
  .strictObject({
    state: z.enum(['healthy', 'failing', 'paused', 'disabled']).meta({
      description:
        '`failing`: the last attempt failed. `paused`: the receiver gave no answers, or sent `Retry-After`, or the platform has paused it (`pausedAt`); deliveries wait. `disabled`: nothing is sent.',
    }),
    since: TimeText,
    consecutiveFailures: z.int().min(0),
    lastFailure: z
      .strictObject({
        at: TimeText,
        status: z.int().min(100).max(999).exactOptional(),
        error: AttemptErrorCode.exactOptional(),
      })
      .meta({ description: 'Its last attempt that failed. Absent after a success, and when nothing has failed.' })
      .exactOptional(),
    pausedUntil: TimeText.meta({
      description: 'Until then nothing is sent, because its `Retry-After` asked for that. Absent: it does not.',
    }).exactOptional(),
    nextProbeAt: TimeText.meta({
      description:
        'When one delivery is sent to see whether it answers again, after several without an answer in a row. Absent: it answers, or is not known not to.',
    }).exactOptional(),
    backlog: z.int().min(0).meta({ description: 'Its own due deliveries that wait.' }),
    waitingForRate: z
      .int()
      .min(1)
      .meta({
        description:
          'How many of its due deliveries wait because of `rateLimit`; `backlog` counts them too. Absent when none does.',
      })
      .exactOptional(),
    lastSuccessAt: TimeText.nullable(),
  })
  .meta({ id: 'ReceiverHealth' });

const Warning = z
  .strictObject({
    code: z.literal('same_url').meta({ description: '`same_url`: another receiver of the workspace has this URL.' }),
    detail: z.string(),
  })
  .meta({ id: 'ReceiverWarning' });

/** Since when, why and by whom a receiver or a callback is disabled; absent while it is enabled. */
const DisablingFields = {
  disabledAt: TimeText.exactOptional(),
  disabledReason: z
    .enum(DISABLED_REASONS)
    .meta({
      description:
        '`by_request`: somebody disabled it. `locked`: the platform disabled it, and only the platform enables it again. `gone`: it answered 410. `failing`: it failed for too long without one success.',
    })
    .exactOptional(),
  disabledBy: z
    .string()
    .meta({
      description:
        'Who disabled it: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for whoever runs the service, or `herald` by itself. Absent when that was not noted yet.',
      examples: ['platform'],
    })
    .exactOptional(),
  lockedReason: z
    .string()
    .meta({ description: 'What the platform says about a lock. Absent when it says nothing.' })
    .exactOptional(),
};

/** In which order a receiver or a callback gets the events of a Task. */
const OrderingFields = {
  ordering: z.enum(ORDERINGS).meta({
    description: '`task`: the events of one Task go one after the other, in the order of their `sequence`.',
  }),
  orderingTimeoutSeconds: z
    .int()
    .min(0)
    .meta({
      description: 'How long an event waits for those before it, if `ordering` is `task`.',
      examples: [86_400],
    }),
  orderingTimeout: z.string().meta({
    deprecated: true,
    description: 'The former name of `orderingTimeoutSeconds`, as a text.',
    examples: ['24h'],
  }),
};

const ReceiverFields = {
  id: ReceiverIdText,
  url: z.string(),
  events: z.array(EventName).meta({ description: 'Empty means every event.' }),
  description: z.string(),
  enabled: z.boolean(),
  ...OrderingFields,
  rateLimit: RateLimit.nullable(),
  createdAt: TimeText,
  ...DisablingFields,
  pausedAt: TimeText.meta({
    description:
      'Since when the platform holds back what is sent to it. Only the platform lets it go on. Absent: it does not.',
  }).exactOptional(),
  pausedReason: z
    .string()
    .meta({ description: 'What the platform says about the pause. Absent when it says nothing.' })
    .exactOptional(),
  headerNames: z
    .array(z.string())
    .meta({
      description: 'Names of the `headers` that it was given. Their values are never shown. Absent without any.',
      examples: [['authorization']],
    })
    .exactOptional(),
  maxRetryHours: MaxRetryHours.nullable(),
  secretOverlapEndsAt: TimeText.meta({
    description:
      'Its secret was rotated: until then `x-service-signature` is made with the old one, and `webhook-signature` with both. Absent: one secret alone is in force.',
  }).exactOptional(),
  warnings: z
    .array(Warning)
    .meta({ description: 'What may be a mistake in what was just set. Absent without any, and when it is only read.' })
    .exactOptional(),
  health: ReceiverHealth,
};

const EXAMPLE = {
  id: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
  url: 'https://hooks.example.com/herald',
  events: ['task.done', 'task.canceled'],
  description: 'Billing, production',
  enabled: true,
  ordering: 'none',
  orderingTimeoutSeconds: 86_400,
  orderingTimeout: '24h',
  rateLimit: null,
  createdAt: '2030-01-31T12:00:00.000Z',
  headerNames: ['authorization'],
  maxRetryHours: 72,
  health: {
    state: 'healthy',
    since: '2030-01-31T12:00:00.000Z',
    consecutiveFailures: 0,
    backlog: 0,
    lastSuccessAt: '2030-02-01T08:30:00.000Z',
  },
};

/** A receiver as its workspace sees it: never with its secret. */
export const ReceiverView = z.strictObject(ReceiverFields).meta({
  id: 'Receiver',
  description: 'A URL to which Herald sends the events of a workspace.',
  examples: [EXAMPLE],
});

/** The answer to a registration. */
const RegisteredReceiver = z.strictObject({ ...ReceiverFields, secret: SigningSecret }).meta({
  id: 'RegisteredReceiver',
  description: 'A new receiver. Its signing secret is shown only in this answer.',
  examples: [{ ...EXAMPLE, secret: SIGNING_SECRET_EXAMPLE }],
});

export const ReceiverRegistration = ShownOnce('ReceiverRegistration', RegisteredReceiver, ReceiverView);

export const ReceiverList = z
  .strictObject({
    webhooks: z.array(ReceiverView),
    events: z.array(EventName).meta({ description: 'All valid event names.' }),
  })
  .meta({ id: 'ReceiverList' });

export const ReceiverDeleted = z.strictObject({ deleted: z.boolean() }).meta({ id: 'ReceiverDeleted' });

/** The outcome of a test event (spec section 4). */
export const TestOutcome = z
  .strictObject({
    delivered: z.boolean().meta({ description: 'Whether the receiver answered with a 2xx.' }),
    receiverStatus: z.int().min(100).max(999).nullable().meta({ description: 'Null when no status came.' }),
    error: z
      .enum([...codesOf(ATTEMPT_ERRORS), ...codesOf(DELIVERY_REASONS)])
      .meta({
        description: 'Why no status came: the code of the attempt, or the reason why none was made. Else absent.',
        examples: ['timeout_response'],
      })
      .exactOptional(),
    answer: AnswerText.exactOptional(),
    bodyNote: BodyNoteCode.exactOptional(),
    deliveryId: DeliveryIdText,
    durationMs: z
      .int()
      .min(0)
      .meta({ description: 'From the first look-up to the end of the answer. Absent when nothing was sent.' })
      .exactOptional(),
  })
  .meta({
    id: 'TestOutcome',
    examples: [
      {
        delivered: true,
        receiverStatus: 200,
        answer: 'ok',
        deliveryId: 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
        durationMs: 41,
      },
    ],
  });

export function toTestOutcome(sent: SentTestEvent): z.infer<typeof TestOutcome> {
  const { error, bodyNote, ...rest } = sent;
  return {
    ...rest,
    ...(error !== undefined && { error: isCodeOf(DELIVERY_REASONS, error) ? error : toAttemptError(error) }),
    ...(isCodeOf(BODY_NOTES, bodyNote) && { bodyNote }),
  };
}

export function toReceiverView({
  receiver,
  group,
  at,
  sameUrl = [],
}: ReceiverWithHealth): z.infer<typeof ReceiverView> {
  const { id, url, events, description, enabled, createdAt } = receiver;
  const { headerNames, maxRetryHours, rateLimit, pausedAt, pausedReason, previousSecret } = receiver;
  const { consecutiveFailures, lastFailure, lastSuccessAt } = receiver.health;
  const { state, since } = judgeEndpointHealth(receiver, group);
  return {
    id,
    url,
    events: [...events],
    description,
    enabled,
    ...toOrderingView(receiver),
    rateLimit: rateLimit ?? null,
    createdAt: toTime(createdAt),
    ...toDisablingView(receiver),
    ...(pausedAt !== undefined && { pausedAt: toTime(pausedAt) }),
    ...(pausedAt !== undefined && pausedReason !== undefined && { pausedReason }),
    ...(headerNames && { headerNames: [...headerNames] }),
    maxRetryHours: maxRetryHours ?? null,
    ...(previousSecret && previousSecret.until > at && { secretOverlapEndsAt: toTime(previousSecret.until) }),
    ...(sameUrl.length > 0 && { warnings: [{ code: 'same_url' as const, detail: sameUrlDetail(sameUrl) }] }),
    health: {
      state,
      since: toTime(since),
      consecutiveFailures,
      ...(lastFailure && { lastFailure: toFailureView(lastFailure) }),
      ...(group?.heldUntil !== undefined && { pausedUntil: toTime(group.heldUntil) }),
      ...(group?.nextProbeAt !== undefined && { nextProbeAt: toTime(Math.max(at, group.nextProbeAt)) }),
      backlog: group?.due ?? 0,
      ...(group?.waitingForRate !== undefined && { waitingForRate: group.waitingForRate }),
      lastSuccessAt: lastSuccessAt === undefined ? null : toTime(lastSuccessAt),
    },
  };
}

function toFailureView({ at, status, error }: LastFailure) {
  return {
    at: toTime(at),
    ...(status === undefined ? error !== undefined && { error: toAttemptError(error) } : { status }),
  };
}

function sameUrlDetail(ids: readonly string[]): string {
  return ids.length === 1
    ? `${ids[0]} has the same URL: an event that both want is delivered twice, under two delivery ids`
    : `${ids.join(', ')} have the same URL: an event that all want is delivered ${ids.length + 1} times, under as many delivery ids`;
}

/** Shows a receiver, and the version of what can be set of it. */
export function answerWithReceiver(res: Pick<Response, 'set'>, found: ReceiverWithHealth) {
  res.set('etag', etagOf(found.receiver));
  return toReceiverView(found);
}

export function toDisablingView({ disabledAt, disabledReason, disabledBy, lockedReason }: EndpointDisabling) {
  if (disabledAt === undefined) return {};
  return {
    disabledAt: toTime(disabledAt),
    ...(disabledReason !== undefined && { disabledReason }),
    ...(disabledBy !== undefined && { disabledBy }),
    ...(disabledReason === 'locked' && lockedReason !== undefined && { lockedReason }),
  };
}

export function toOrderingView(endpoint: EndpointOrdering) {
  const { ordering = 'none', orderingTimeoutMs = DEFAULT_ORDERING_TIMEOUT_MS } = endpoint;
  return {
    ordering,
    orderingTimeoutSeconds: orderingTimeoutSecondsOf(endpoint),
    orderingTimeout: writeDuration(orderingTimeoutMs),
  };
}
