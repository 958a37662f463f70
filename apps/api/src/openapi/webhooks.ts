import {
  DEFAULT_DELIVERY_TIMEOUT_MS,
  DeliveryIdText,
  EVENT_NAMES,
  NOTICE_EVENTS,
  NOTICE_PAYLOADS,
  TaskEventName,
  WEBHOOK_PAYLOADS,
  type DeliveryEvent,
} from '@herald/core';
import { z } from 'zod';
import type { ZodOpenApiPathItemObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { durationText } from './duration-text.ts';

/** When each event is emitted. */
export const EVENT_MEANINGS: Readonly<Record<DeliveryEvent, string>> = {
  'task.check_in': 'A Task reached a material canonical checkpoint.',
  'task.requires_action': 'A Task needs an approval or a decision.',
  'task.done': 'A Task is done. Read its result with `GET /tasks/{id}`.',
  'task.canceled': 'A Task was canceled.',
  'webhook.test': 'The test operation was called.',
  'receiver.failing': 'A receiver has failed for an hour without a success. Sent once, until it recovers.',
  'receiver.disabled': 'Herald disabled a receiver.',
  'receiver.recovered': 'A receiver that was reported as failing or disabled succeeded again.',
  'callback.disabled': "Herald disabled a Task's callback.",
};

const isTaskEvent = (event: DeliveryEvent) => TaskEventName.safeParse(event).success;

const PAYLOADS = { ...WEBHOOK_PAYLOADS, ...NOTICE_PAYLOADS };

/** The headers of a delivery of this event. */
export const headersOf = (event: DeliveryEvent) =>
  z.object({
    'x-service-event': z.literal(event).meta({ description: 'The event.' }),
    'x-service-signature': z
      .string()
      .regex(/^sha256=[0-9a-f]{64}$/)
      .meta({
        description:
          '`sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time.',
      }),
    'x-service-delivery': DeliveryIdText.meta({
      description: 'Id of the delivery, the same on every try. Ignore a delivery that you have processed.',
    }),
    'webhook-id': DeliveryIdText.meta({ description: 'The same id, for Standard Webhooks.' }),
    'webhook-timestamp': z
      .string()
      .regex(/^\d{10,}$/)
      .meta({ description: 'When this attempt was made, in seconds since 1970.' }),
    'webhook-signature': z
      .string()
      .regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/)
      .meta({
        description:
          '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space.',
      }),
    ...(event !== 'webhook.test' && {
      'x-service-sample': z
        .literal('true')
        .meta({
          description:
            'Only on a sample, which the test operation sends: its Task does not exist. The signature does not cover this header; the id of the Task in the body starts with `task_sample`.',
        })
        .exactOptional(),
    }),
    ...(isTaskEvent(event) && {
      'x-service-ordering': z
        .literal('released')
        .meta({
          description:
            'Only with `ordering: "task"`: this event did not wait for an earlier one of its Task, because the timeout passed or somebody asked for this delivery.',
        })
        .exactOptional(),
    }),
    'content-type': z.literal('application/json'),
    'user-agent': z.string().regex(/^Herald\//),
  });

const TO_ENDPOINTS = {
  tag: 'Webhooks',
  responses: { '410': { description: 'The endpoint is gone. Herald disables it.' } },
};
const TO_THE_PLATFORM = { tag: 'Notices', responses: {} };

/** Describes the requests that Herald sends: to receivers and callbacks, and to the platform, by event. */
export function describeWebhooks(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries([
    ...EVENT_NAMES.map((event) => [event, describeWebhook(event, TO_ENDPOINTS)] as const),
    ...NOTICE_EVENTS.map((event) => [event, describeWebhook(event, TO_THE_PLATFORM)] as const),
  ]);
}

function describeWebhook(
  event: DeliveryEvent,
  { tag, responses }: { readonly tag: string; readonly responses: ZodOpenApiResponsesObject },
): ZodOpenApiPathItemObject {
  return {
    post: {
      operationId: `on${event.replaceAll(/(?:^|[._])(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
      tags: [tag],
      summary: EVENT_MEANINGS[event],
      security: [],
      requestParams: { header: headersOf(event) },
      requestBody: {
        required: true,
        description:
          'The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`.',
        content: { 'application/json': { schema: PAYLOADS[event] } },
      },
      responses: {
        '2XX': {
          description: `Delivered. Answer within ${durationText(DEFAULT_DELIVERY_TIMEOUT_MS)}, and do the work afterwards.`,
        },
        ...responses,
        '429': { description: 'Retried later. `Retry-After` pauses all deliveries to this host.' },
        '503': { description: 'Retried later. `Retry-After` pauses all deliveries to this host.' },
        default: { description: 'Retried on the schedule. A redirect is a failure too.' },
      },
    },
  };
}
