import { EventFormatError, type HeraldEvent, parseEvent } from './event.ts';
import {
  bytesOf,
  checkPositive,
  checkSecrets,
  DEFAULT_TOLERANCE_S,
  isFresh,
  isSignedByStandard,
  isWellFormed,
  readHeader,
  verifyAllowingReplays,
  type RawBody,
  type Secrets,
  type WebhookHeaders,
} from './signatures.ts';

/** Which signatures must hold: `x-service-signature`, the Standard Webhooks one, or both. */
export type SignatureMode = 'both' | 'standard' | 'service';

/** A request, as it came. */
export type DeliveryToVerify = {
  readonly headers: WebhookHeaders;
  /** Before any parser; of a platform that encodes it as base64, decoded from that. */
  readonly rawBody: RawBody;
  readonly secrets: Secrets;
  /** Default: both. Read the README before you choose only one. */
  readonly signatures?: SignatureMode;
  /** Largest distance of `webhook-timestamp` from now. Default 300. */
  readonly toleranceS?: number;
  /** Epoch ms. Default: the clock. */
  readonly nowMs?: number;
};

export type VerifiedDelivery =
  | {
      readonly kind: 'genuine';
      readonly event: HeraldEvent;
      /** A repeat has the same: process each id once. The signed id, unless only the service signature is asked for. */
      readonly id: string;
    }
  | {
      readonly kind: 'refused';
      /** The check that failed. */
      readonly reason: Refusal;
      /** The same in words. */
      readonly detail: string;
      /** What to answer. */
      readonly status: 400 | 401;
    };

/**
 * Makes every check of a request: both signatures, the time, the ids, and the form of the event. For whatever the
 * handlers don't fit: Lambda, Koa, a queue, a test. It doesn't know what was processed before: process each `id` once.
 * @throws TypeError for options that can't work. Whatever a request carries is a refusal.
 */
export function verifyDelivery(delivery: DeliveryToVerify): VerifiedDelivery {
  const { headers, rawBody, signatures = 'both', nowMs = Date.now() } = delivery;
  checkMode(signatures);
  const toleranceS = checkPositive(delivery.toleranceS ?? DEFAULT_TOLERANCE_S, 'toleranceS');
  const secrets = checkSecrets(delivery.secrets);
  const reason =
    judgeHeaders(headers, signatures, { toleranceS, nowMs }) ??
    (bytesOf(rawBody) === undefined ? 'body_not_raw' : judgeSignatures(rawBody, headers, secrets, signatures));
  if (reason !== undefined) return refused(reason, describeRefusal(reason));
  try {
    const id = readHeader(headers, signatures === 'service' ? 'x-service-delivery' : 'webhook-id') ?? '';
    return { kind: 'genuine', event: parseEvent(rawBody), id };
  } catch (error) {
    if (error instanceof EventFormatError) return refused(error.code, error.message);
    throw error;
  }
}

function refused(reason: Refusal, detail: string): VerifiedDelivery {
  return {
    kind: 'refused',
    reason,
    detail,
    status: reason === 'event_format' || reason === 'body_not_raw' ? 400 : 401,
  };
}

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** What can be refused before the body is read. */
export function judgeHeaders(
  headers: WebhookHeaders,
  mode: SignatureMode,
  time: { readonly toleranceS: number; readonly nowMs: number },
): Refusal | undefined {
  const plainId = readHeader(headers, 'x-service-delivery');
  if (mode !== 'standard' && readHeader(headers, 'x-service-signature') === undefined) {
    return 'service_signature_missing';
  }
  if (mode === 'service') return plainId === undefined || plainId === '' ? 'delivery_id_missing' : undefined;
  if (STANDARD_HEADERS.some((name) => readHeader(headers, name) === undefined)) return 'standard_headers_missing';
  if (!isWellFormed(headers)) return 'standard_headers_malformed';
  if (mode === 'both' && plainId !== readHeader(headers, 'webhook-id')) return 'delivery_ids_differ';
  return isFresh(headers, time) ? undefined : 'timestamp_out_of_tolerance';
}

function judgeSignatures(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secrets: readonly string[],
  mode: SignatureMode,
): Refusal | undefined {
  if (mode !== 'standard' && !verifyAllowingReplays(rawBody, headers, secrets)) return 'service_signature_wrong';
  if (mode !== 'service' && !isSignedByStandard(rawBody, headers, secrets)) return 'standard_signature_wrong';
  return undefined;
}

const ROTATION = 'while a secret is being rotated, give both, the old one until the overlap ends';

const REFUSALS = {
  service_signature_missing: 'x-service-signature is missing',
  service_signature_wrong: `x-service-signature was made with none of the secrets, or over another body; ${ROTATION}`,
  standard_headers_missing: 'webhook-id, webhook-timestamp or webhook-signature is missing',
  standard_headers_malformed: 'webhook-id or webhook-timestamp has no form that Herald sends',
  standard_signature_wrong: `webhook-signature was made with none of the secrets, or over another body; ${ROTATION}`,
  timestamp_out_of_tolerance: 'webhook-timestamp is too far from now: a replay, or the clock of the receiver is wrong',
  delivery_id_missing: 'x-service-delivery is missing',
  delivery_ids_differ: 'x-service-delivery is not webhook-id',
  body_not_raw: 'there is no body, or a parser has made something of it: give it as it came, as bytes or as text',
  event_format: 'the body is no event',
};

export type Refusal = keyof typeof REFUSALS;

/** Which check failed, in words. */
export function describeRefusal(reason: Refusal): string {
  return REFUSALS[reason];
}

const MODES: readonly string[] = ['both', 'standard', 'service'] satisfies SignatureMode[];

/** @throws TypeError */
export function checkMode(mode: string): void {
  if (!MODES.includes(mode)) throw new TypeError(`signatures must be one of ${MODES.join(', ')}`);
}
