import { deliveryHeaders, SIGNATURE_HEADERS } from '@herald/core';
import { toRequestHeaders } from '@herald/egress/create-sender';
import { VERSION } from '@herald/runtime/version';
import type { DeliveryReader, ListedDelivery } from '@herald/store/deliveries/delivery-reader';
import { z } from 'zod';
import { TimeText, toTime } from '../http/to-time.ts';

const EXAMPLE_BODY =
  '{"id":"trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw","event":"task.done","created_at":"2030-01-31T12:00:00.000Z","sequence":3,"task":{"id":"task_01kes8t4a0q3m1y5b9z7x2c6vd","status":"done"}}';

export const REQUEST_EXAMPLE = {
  method: 'POST',
  url: 'https://hooks.example.com/herald',
  headers: {
    host: 'hooks.example.com',
    'user-agent': `Herald/${VERSION}`,
    'content-type': 'application/json',
    'content-length': String(EXAMPLE_BODY.length),
    'x-service-event': 'task.done',
    'x-service-delivery': 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
    'webhook-id': 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
    'webhook-timestamp': '1896091205',
  },
  omittedHeaders: [...SIGNATURE_HEADERS],
  body: EXAMPLE_BODY,
};

/** What is sent, on every attempt alike but for the time and the signatures. */
export const DeliveryRequest = z
  .strictObject({
    method: z.literal('POST'),
    url: z.string().nullable().meta({ description: 'The url of its endpoint. Null when that was removed.' }),
    urlChangedAt: TimeText.meta({
      description: 'When the url was changed after the last attempt, which went to the former one.',
    }).exactOptional(),
    headers: z.record(z.string(), z.string()).meta({
      description:
        'As the last attempt sent them, names in lower case. `host` is that of `url`, and `webhook-timestamp` is there once there was an attempt. Without those of the connection, and without `traceparent`, which differs with every attempt.',
    }),
    omittedHeaders: z.array(z.string()).meta({
      description: "Sent as well, and never shown: the signatures, and the endpoint's own headers as they are now.",
    }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'The exact bytes that are sent, in UTF-8. Null when they are no longer kept.' }),
    bodyGone: z.enum(['not_kept', 'erased']).meta({ description: 'Why there is no body.' }).exactOptional(),
  })
  .meta({ id: 'DeliveryRequest' });

type Content = Awaited<ReturnType<DeliveryReader['readContent']>>;

export function toRequestView(
  delivery: ListedDelivery,
  { url, urlChangedAt, headerNames = [], body }: Content,
): z.infer<typeof DeliveryRequest> {
  const lastAt = delivery.lastAttempt?.at;
  const bodyBytes = body === undefined ? undefined : Buffer.byteLength(body);
  return {
    method: 'POST',
    url: url ?? null,
    ...(urlChangedAt !== undefined &&
      lastAt !== undefined &&
      lastAt < urlChangedAt && { urlChangedAt: toTime(urlChangedAt) }),
    headers: {
      ...toRequestHeaders(url === undefined ? undefined : URL.parse(url), bodyBytes),
      ...deliveryHeaders(delivery, lastAt),
    },
    omittedHeaders: [...SIGNATURE_HEADERS, ...headerNames],
    body: body ?? null,
    ...(body === undefined && { bodyGone: delivery.erasedAt === undefined ? 'not_kept' : 'erased' }),
  };
}
