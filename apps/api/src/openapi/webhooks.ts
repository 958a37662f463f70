import { DeliveryIdText, EVENT_NAMES, WEBHOOK_PAYLOADS, type EventName } from '@herald/core';
import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';

const MEANING: Readonly<Record<EventName, string>> = {
  'task.check_in': 'A Task reached a material canonical checkpoint.',
  'task.requires_action': 'A Task needs an approval or a decision.',
  'task.done': 'A Task is done. Read its result with `GET /tasks/{id}`.',
  'task.canceled': 'A Task was canceled.',
  'webhook.test': 'The test operation was called.',
};

const headersOf = (event: EventName) =>
  z.object({
    'x-service-event': z.literal(event).meta({ description: 'The event.' }),
    'x-service-signature': z
      .string()
      .regex(/^sha256=[0-9a-f]{64}$/)
      .meta({
        description:
          "`sha256=` and the lowercase hex HMAC-SHA256 of the raw body; the key is the secret's UTF-8 bytes exactly as it was shown. Compare in constant time.",
      }),
    'x-service-delivery': DeliveryIdText.meta({
      description: 'The delivery: the same on every try. What was processed under it is safely ignored.',
    }),
    'webhook-id': DeliveryIdText.meta({ description: 'The delivery again, after Standard Webhooks.' }),
    'webhook-timestamp': z
      .string()
      .regex(/^\d{10,}$/)
      .meta({ description: 'When this attempt was made, in seconds since 1970.' }),
    'webhook-signature': z
      .string()
      .regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/)
      .meta({
        description:
          '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; the key is the decoded secret after `whsec_`. During a rotation there are two, separated by a space.',
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
    'content-type': z.literal('application/json'),
    'user-agent': z.string().regex(/^Herald\//),
  });

/** Describes the requests that Herald sends to receivers and callbacks, by event. */
export function describeWebhooks(): Record<EventName, ZodOpenApiPathItemObject> {
  return Object.fromEntries(EVENT_NAMES.map((event) => [event, describeWebhook(event)])) as Record<
    EventName,
    ZodOpenApiPathItemObject
  >;
}

function describeWebhook(event: EventName): ZodOpenApiPathItemObject {
  return {
    post: {
      operationId: `on${event.replaceAll(/(?:^|[._])(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
      tags: ['Webhooks'],
      summary: MEANING[event],
      security: [],
      requestParams: { header: headersOf(event) },
      requestBody: {
        required: true,
        description: 'The raw body is what is signed: verify it before it is parsed.',
        content: { 'application/json': { schema: WEBHOOK_PAYLOADS[event] } },
      },
      responses: {
        '2XX': { description: 'Delivered. Answer within 15 seconds, and do the work afterwards.' },
        '410': { description: 'The endpoint is gone: it is disabled.' },
        '429': { description: 'Tried again later; `Retry-After` holds back everything for this host.' },
        '503': { description: 'Tried again later; `Retry-After` holds back everything for this host.' },
        default: { description: 'Tried again later, a redirect included, on the schedule.' },
      },
    },
  };
}
