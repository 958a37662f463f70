import { createHmac } from 'node:crypto';
import type { SigningKey } from '../endpoints/endpoint.ts';
import type { DeliveryEvent } from '../events.ts';
import type { DeliveryId } from '../ids/ids.ts';
import type { Delivery } from './delivery.ts';

/** The keys in force for one endpoint. */
export type SigningKeys = {
  readonly current: SigningKey;
  /** Still valid during a rotation's overlap. */
  readonly previous?: SigningKey;
};

export type DeliveryToSign = {
  readonly id: DeliveryId;
  readonly event: DeliveryEvent;
  readonly body: Buffer;
  /** Epoch ms of this attempt. */
  readonly now: number;
};

/** The headers that hold a signature. They are never shown. */
export const SIGNATURE_HEADERS = ['x-service-signature', 'webhook-signature'] as const;

const identityHeaders = (id: DeliveryId, event: DeliveryEvent) => ({
  'x-service-event': event,
  'x-service-delivery': id,
  'webhook-id': id,
});
const timeHeaders = (now: number) => ({ 'webhook-timestamp': String(Math.floor(now / 1_000)) });

/**
 * The headers of one attempt, without those of `SIGNATURE_HEADERS`.
 * @param now epoch ms of the attempt; without it, the header that names the time is left out
 */
export function deliveryHeaders(
  { id, event, sampleOf, isReleased }: Pick<Delivery, 'id' | 'event' | 'sampleOf' | 'isReleased'>,
  now?: number,
) {
  return {
    'content-type': 'application/json',
    ...identityHeaders(id, sampleOf ?? event),
    ...(sampleOf !== undefined && { 'x-service-sample': 'true' }),
    ...(isReleased && { 'x-service-ordering': 'released' }),
    ...(now !== undefined && timeHeaders(now)),
  };
}

/** `sha256=` + lowercase hex HMAC-SHA256 of the raw body; the key is the secret's UTF-8 bytes (spec section 6). */
export function serviceSignature(body: Buffer, { service }: SigningKey): string {
  return `sha256=${createHmac('sha256', service).update(body).digest('hex')}`;
}

/** `v1,` + base64 HMAC-SHA256 over `id.timestamp.body` (the Standard Webhooks specification). */
export function standardSignature(id: string, timestampS: number, body: Buffer, { standard }: SigningKey): string {
  const hmac = createHmac('sha256', standard).update(`${id}.${timestampS}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/**
 * The headers that authenticate one attempt. During an overlap `x-service-signature`, which has room for one signature,
 * uses the previous secret, and `webhook-signature` carries both.
 */
export function signatureHeaders({ id, event, body, now }: DeliveryToSign, keys: SigningKeys) {
  const timestampS = Math.floor(now / 1_000);
  const { current, previous } = keys;
  const signatures = (previous === undefined ? [current] : [current, previous]).map((key) =>
    standardSignature(id, timestampS, body, key),
  );
  return {
    ...identityHeaders(id, event),
    ...timeHeaders(now),
    'x-service-signature': serviceSignature(body, previous ?? current),
    'webhook-signature': signatures.join(' '),
  };
}
