import { isEqual } from './is-equal.ts';
import { standardSignature } from './make-signatures.ts';
import { bytesOf, type RawBody } from './raw-body.ts';
import { readHeader, type WebhookHeaders } from './read-header.ts';
import { standardKeyOf, usableSecrets, type Secrets } from './secrets.ts';

export type StandardOptions = {
  /** Largest distance of `webhook-timestamp` from now. Default 300, as in the Standard Webhooks specification. */
  readonly toleranceS?: number;
  /** Epoch ms. Default: the clock. */
  readonly nowMs?: number;
};

export const DEFAULT_TOLERANCE_S = 300;
// No dots: a dot in the id would make the signed text `id.timestamp.body` ambiguous.
const ID = /^[A-Za-z0-9_-]{1,256}$/;
const TIMESTAMP = /^[0-9]{1,11}$/;

/**
 * Whether `webhook-signature` has a `v1` signature over `webhook-id`, `webhook-timestamp` and this body, made with one
 * of the secrets, and within the tolerance. This is the Standard Webhooks scheme: it covers the delivery's id
 * (`webhook-id` equals `x-service-delivery`), and a captured request can't be replayed later. Runs in constant time;
 * never throws.
 */
export function verifyStandard(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secrets: Secrets,
  options: StandardOptions = {},
): boolean {
  return isFresh(headers, options) && isSignedByStandard(rawBody, headers, secrets);
}

/** Whether `webhook-timestamp` is within the tolerance. Doesn't check the signature. */
export function isFresh(headers: unknown, { toleranceS = DEFAULT_TOLERANCE_S, nowMs }: StandardOptions): boolean {
  const timestamp = readHeader(headers, 'webhook-timestamp');
  if (timestamp === undefined || !TIMESTAMP.test(timestamp)) return false;
  const nowS = Math.floor((nowMs ?? Date.now()) / 1_000);
  return Math.abs(nowS - Number(timestamp)) <= toleranceS;
}

/** Checks only the signature, not the timestamp. */
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
    .map((key) => standardSignature(id, timestamp, body, key))
    .flatMap((expected) => signatures.map((given) => isEqual(given, expected)));
  return matches.includes(true);
}
