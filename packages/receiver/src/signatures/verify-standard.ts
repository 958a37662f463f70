import { createHmac } from 'node:crypto';
import { isEqual } from './is-equal.ts';
import { bytesOf, type RawBody } from './raw-body.ts';
import { readHeader, type WebhookHeaders } from './read-header.ts';
import { standardKeyOf, usableSecrets, type Secrets } from './secrets.ts';

export type StandardOptions = {
  /** How far `webhook-timestamp` may be from now, either way. Default 300, as the Standard Webhooks specification says. */
  readonly toleranceS?: number;
  /** Epoch ms. Default: the clock. */
  readonly nowMs?: number;
};

export const DEFAULT_TOLERANCE_S = 300;
// No dots: `id.timestamp.body` is signed, and a dot in the id would let its parts be cut in two ways.
const ID = /^[A-Za-z0-9_-]{1,256}$/;
const TIMESTAMP = /^[0-9]{1,11}$/;

/**
 * Whether one of the `v1` signatures in `webhook-signature` was made over `webhook-id`, `webhook-timestamp` and this body with one
 * of the secrets, and lately. This is the Standard Webhooks scheme: it covers the delivery's id (`webhook-id` is
 * `x-service-delivery`), and a captured request can't be replayed later. Constant time; never throws.
 */
export function verifyStandard(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secrets: Secrets,
  options: StandardOptions = {},
): boolean {
  return isFresh(headers, options) && isSignedByStandard(rawBody, headers, secrets);
}

/** Whether `webhook-timestamp` is within the tolerance. Says nothing of who wrote it. */
export function isFresh(headers: unknown, { toleranceS = DEFAULT_TOLERANCE_S, nowMs }: StandardOptions): boolean {
  const timestamp = readHeader(headers, 'webhook-timestamp');
  if (timestamp === undefined || !TIMESTAMP.test(timestamp)) return false;
  const nowS = Math.floor((nowMs ?? Date.now()) / 1_000);
  return Math.abs(nowS - Number(timestamp)) <= toleranceS;
}

/** The signature alone, however old it is. */
export function isSignedByStandard(rawBody: unknown, headers: unknown, secrets: unknown): boolean {
  const body = bytesOf(rawBody);
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature')?.split(' ');
  if (body === undefined || id === undefined || timestamp === undefined || signatures === undefined) return false;
  if (!ID.test(id) || !TIMESTAMP.test(timestamp)) return false;
  const keys = usableSecrets(secrets).map(standardKeyOf);
  const matches = keys
    .filter((key) => key.length > 0)
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`)
    .flatMap((expected) => signatures.map((given) => isEqual(given, expected)));
  return matches.includes(true);
}
