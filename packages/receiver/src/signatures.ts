import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A signing secret as Herald showed it (`whsec_…`), or several during a rotation. */
export type Secrets = string | readonly string[];

/** The unparsed body. A string stands for its UTF-8 bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Fetch `Headers`, or a plain object such as Node's `IncomingHttpHeaders`. A list of one is as good as its value. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type StandardOptions = {
  /** Largest distance of `webhook-timestamp` from now. Default 300, as in the Standard Webhooks specification. */
  readonly toleranceS?: number;
  /** Epoch ms. Default: the clock. */
  readonly nowMs?: number;
};

export const DEFAULT_TOLERANCE_S = 300;

/**
 * Whether `x-service-signature` was made over this body with one of the secrets: `sha256=` + lowercase hex HMAC-SHA256
 * of the raw body, keyed by the secret's UTF-8 bytes, compared in constant time. It **allows replays**: it covers neither
 * the time nor `x-service-delivery`, so that who has seen a request can send it again, also under another id. Use
 * `verifyDelivery`, which makes all checks.
 *
 * The result is false for whatever can't be verified: a header that is missing or has another length, a body that a
 * parser made, a secret that is empty or not as Herald showed it.
 */
export function verifyAllowingReplays(rawBody: RawBody, headers: WebhookHeaders, secrets: Secrets): boolean {
  const body = bytesOf(rawBody);
  const signature = readHeader(headers, 'x-service-signature');
  if (body === undefined || signature === undefined) return false;
  // All secrets are tried, so that the duration doesn't reveal which one is in use.
  const matches = usableSecrets(secrets).map((secret) => isEqual(signature, serviceSignature(body, secret)));
  return matches.includes(true);
}

/**
 * Whether `webhook-signature` has a `v1` signature over `webhook-id`, `webhook-timestamp` and this body, made with one
 * of the secrets, and within the tolerance. This is the Standard Webhooks scheme: it covers the delivery's id
 * (`webhook-id` equals `x-service-delivery`), and a captured request can't be replayed later. Runs in constant time. The
 * result is false for whatever can't be verified.
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

// No dots: a dot in the id would make the signed text `id.timestamp.body` ambiguous.
const ID = /^[A-Za-z0-9_-]{1,256}$/;
const TIMESTAMP = /^[0-9]{1,11}$/;

/** Whether `webhook-id` and `webhook-timestamp` have a form that Herald signs. */
export function isWellFormed(headers: unknown): boolean {
  const [id, timestamp] = [readHeader(headers, 'webhook-id'), readHeader(headers, 'webhook-timestamp')];
  return id !== undefined && timestamp !== undefined && ID.test(id) && TIMESTAMP.test(timestamp);
}

/** Checks only the signature, not the time. */
export function isSignedByStandard(rawBody: unknown, headers: unknown, secrets: unknown): boolean {
  const body = bytesOf(rawBody);
  const signatures = readHeader(headers, 'webhook-signature')?.split(' ');
  if (body === undefined || signatures === undefined || !isWellFormed(headers)) return false;
  const id = readHeader(headers, 'webhook-id') ?? '';
  const timestamp = readHeader(headers, 'webhook-timestamp') ?? '';
  const matches = usableSecrets(secrets)
    .map((secret) => standardSignature(id, timestamp, body, secret))
    .flatMap((expected) => signatures.map((given) => isEqual(given, expected)));
  return matches.includes(true);
}

export type DeliveryToSign = {
  readonly rawBody: RawBody;
  /** One, as Herald showed it. */
  readonly secret: string;
  /** Of the delivery. Default: a new one. */
  readonly id?: string;
  /** Its name, which no signature covers. Default: that in the body. */
  readonly event?: string;
  /** Epoch ms of the attempt. Default: the clock. */
  readonly nowMs?: number;
};

/**
 * The headers with which Herald would send a body: for tests of your receiver.
 * @throws TypeError that says what to change
 */
export function sign(delivery: DeliveryToSign): Record<string, string> {
  const { id = `dlv_${randomBytes(10).toString('hex')}`, nowMs = Date.now() } = delivery;
  const [secret = ''] = checkSecrets([delivery.secret]);
  const body = bytesOf(delivery.rawBody);
  if (body === undefined) throw new TypeError('rawBody must be given raw, as bytes or as text');
  if (!ID.test(id)) throw new TypeError('id must have 1 to 256 letters, digits, _ or -');
  const timestamp = String(Math.floor(nowMs / 1_000));
  if (!TIMESTAMP.test(timestamp)) throw new TypeError('nowMs must be a time in ms since 1970');
  return {
    'x-service-event': delivery.event ?? /"event": ?"([\w.]+)"/.exec(new TextDecoder().decode(body))?.[1] ?? '',
    'x-service-delivery': id,
    'x-service-signature': serviceSignature(body, secret),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(id, timestamp, body, secret),
  };
}

/** The value of `x-service-signature`: the key is the whole secret as shown. */
function serviceSignature(body: Uint8Array, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** One value of `webhook-signature`: the key is the bytes after the secret's prefix. */
function standardSignature(id: string, timestamp: string, body: Uint8Array, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

const PREFIX = 'whsec_';
/** At least 16 bytes. Herald's have 32. */
const SHOWN = /^whsec_[A-Za-z0-9+/]{22,}={0,2}$/;

/** Those that Herald could have made. With an empty one or a placeholder anybody could sign. */
function usableSecrets(secrets: unknown): string[] {
  return listOf(secrets).filter((secret): secret is string => typeof secret === 'string' && SHOWN.test(secret));
}

/** Blanks and line ends around a secret don't count: files and variables add them. */
function listOf(secrets: unknown): unknown[] {
  const list: unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  return list.map((secret) => (typeof secret === 'string' ? secret.trim() : secret));
}

/**
 * The secrets, without what is around them.
 * @throws TypeError that says what to change, when a secret has another form. Its message shows no part of a secret.
 */
export function checkSecrets(secrets: Secrets): readonly string[] {
  const list = listOf(secrets);
  for (const [index, secret] of list.entries()) {
    if (typeof secret === 'string' && SHOWN.test(secret)) continue;
    const what = typeof secret === 'string' ? (secret === '' ? 'empty' : 'not as Herald showed it') : 'not a string';
    throw new TypeError(
      `secrets[${index}] is ${what}: give every secret whole, "whsec_" included, and nothing else; several of them as an array`,
    );
  }
  return list as readonly string[];
}

/** @throws TypeError unless it is a positive number */
export function checkPositive(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(`${name} must be a whole number above 0`);
}

/**
 * The value of a header; undefined when it is missing, repeated, or no text.
 * @param headers of any server, names in any case; a value of any other kind has none
 * @param name in lower case
 */
export function readHeader(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (hasGet(headers)) return textOf(headers.get(name));
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return found.length === 1 ? textOf(found[0]?.[1]) : undefined;
}

function hasGet(headers: object): headers is { get(name: string): unknown } {
  return 'get' in headers && typeof headers.get === 'function';
}

/** Gateways give a list of values for each name. Of several none is the right one. */
function textOf(value: unknown): string | undefined {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof only === 'string' ? only : undefined;
}

/** The bytes of a raw body; undefined for any other value, such as an object that a parser made. */
export function bytesOf(rawBody: unknown): Uint8Array | undefined {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  // `instanceof` would refuse bytes of another realm, such as a test runner's.
  const kind = Object.prototype.toString.call(rawBody);
  if (ArrayBuffer.isView(rawBody) && kind === '[object Uint8Array]') {
    return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  }
  return kind === '[object ArrayBuffer]' ? new Uint8Array(rawBody as ArrayBuffer) : undefined;
}

/** Compares two texts in constant time. False when their lengths differ. */
function isEqual(given: string, expected: string): boolean {
  // The length is no secret. This check avoids a copy of a huge header.
  if (given.length !== expected.length) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
