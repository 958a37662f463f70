import { createHmac } from 'node:crypto';
import { standardKeyOf } from './secrets.ts';

/** The value of `x-service-signature`: the key is the whole secret as shown. */
export function serviceSignature(body: Uint8Array, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** One value of `webhook-signature`, with the key of a secret, see `standardKeyOf`. */
export function standardSignature(id: string, timestamp: string, body: Uint8Array, key: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

export type DeliveryToSign = {
  readonly id: string;
  readonly event: string;
  readonly body: Uint8Array;
  /** Epoch ms of the attempt. */
  readonly now: number;
};

/** The headers that name and authenticate one attempt, as Herald sends them. */
export function signedHeaders({ id, event, body, now }: DeliveryToSign, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  return {
    'x-service-event': event,
    'x-service-delivery': id,
    'x-service-signature': serviceSignature(body, secret),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(id, timestamp, body, standardKeyOf(secret)),
  };
}
