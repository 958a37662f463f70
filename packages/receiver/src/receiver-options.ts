import type { DeliveryStore } from './delivery-store.ts';
import type { HeraldEvent } from './event.ts';
import { checkPositive, checkSecrets, DEFAULT_TOLERANCE_S, type Secrets } from './signatures.ts';
import { checkMode, type Refusal, type SignatureMode } from './verify-delivery.ts';

/** Finds the secrets of the endpoint that a request came to. Without any, the request is refused. */
export type FindSecrets = (request: { readonly path: string }) => Secrets | Promise<Secrets>;

/** A request that was not let through to `handle`, and is no fault of this program. */
export type ReceiverRefusal = {
  /** The check that failed. */
  readonly reason: Refusal | 'body_too_large' | 'body_too_slow' | 'body_incomplete';
  /** The same in words. */
  readonly detail: string;
  /** The status that it was answered with. */
  readonly status: number;
  readonly path: string;
  /** What it gave as its delivery's id. Nothing proves that it is. */
  readonly deliveryId?: string;
};

export type HandledDelivery = {
  /** A repeat has the same. */
  readonly id: string;
  /** Aborted when the limit is reached: then the answer is 503, and nobody waits any more. */
  readonly signal: AbortSignal;
};

export type ReceiverOptions = {
  /** The endpoint's signing secret, or several during a rotation; a function where callbacks share one handler. */
  readonly secrets: Secrets | FindSecrets;
  readonly store: DeliveryStore;
  /**
   * Called until it succeeds, and never twice at a time; in rare cases, such as a crash right after it, once more. Herald
   * waits 15 s for the answer: write the event down here, and work on it afterwards. When this throws, the answer is 500
   * and the next try comes here again. While it runs longer than `limitMs`, repeats are answered 409.
   */
  readonly handle: (event: HeraldEvent, delivery: HandledDelivery) => void | Promise<void>;
  /**
   * Gets errors of `handle`, of the store and of the set-up. What it throws is printed. Default: `console.error`, the
   * same error at most every ten seconds.
   */
  readonly onError?: (error: unknown) => unknown;
  /** Gets every request that was refused. Default: a warning with the check that failed, at most every ten seconds. */
  readonly onRefused?: (refusal: ReceiverRefusal) => unknown;
  /** Default: both. Read the README before you choose only one. */
  readonly signatures?: SignatureMode;
  /** Default 300. */
  readonly toleranceS?: number;
  /** A longer body is answered with 413. Default 1 MiB, more than any body of Herald's. */
  readonly limitBytes?: number;
  /** Every request is answered by then, whatever hangs. Default 14,000: Herald waits 15 s. */
  readonly limitMs?: number;
  /** Epoch ms. Default: the clock. */
  readonly now?: () => number;
};

export type CheckedOptions = Required<Omit<ReceiverOptions, 'secrets'>> & { readonly findSecrets: FindSecrets };

const DEFAULT_LIMIT_BYTES = 1024 * 1024;
const DEFAULT_LIMIT_MS = 14_000;
/** What a timer can wait. */
const MOST_MS = 2 ** 31 - 1;

/** @throws TypeError that says what to change */
export function checkOptions(options: ReceiverOptions): CheckedOptions {
  const { secrets, store, handle, signatures = 'both', now = Date.now } = options;
  checkMode(signatures);
  if (typeof secrets !== 'function' && checkSecrets(secrets).length === 0) {
    throw new TypeError('secrets must not be empty: give the secret that Herald showed at registration');
  }
  if (typeof (store as Partial<DeliveryStore> | null | undefined)?.claim !== 'function') {
    throw new TypeError('store must have the method claim: give createRedisStore(client), or createMemoryStore()');
  }
  const onError = options.onError ?? createErrorPrint(now);
  const onRefused = options.onRefused ?? createRefusalWarning(printWarning, now);
  for (const [name, callback] of Object.entries({ handle, onError, onRefused, now })) {
    if (typeof callback !== 'function') throw new TypeError(`${name} must be a function`);
  }
  return {
    store,
    handle,
    signatures,
    findSecrets: typeof secrets === 'function' ? secrets : () => secrets,
    onError,
    onRefused,
    toleranceS: checkPositive(options.toleranceS ?? DEFAULT_TOLERANCE_S, 'toleranceS'),
    limitBytes: checkPositive(options.limitBytes ?? DEFAULT_LIMIT_BYTES, 'limitBytes'),
    limitMs: Math.min(checkPositive(options.limitMs ?? DEFAULT_LIMIT_MS, 'limitMs'), MOST_MS),
    now,
  };
}

/** Anybody can send requests that fail: what is of one kind is printed once in so many ms. */
const QUIET_MS = 10_000;
const MOST_KINDS = 100;

/** Tells how many of a kind were kept quiet before this one; undefined: this one is, too. */
function createQuiet(now: () => number) {
  const printed = new Map<string, { readonly at: number; more: number }>();
  return function countQuiet(kind: string): number | undefined {
    const last = printed.get(kind);
    if (last && now() - last.at < QUIET_MS) {
      last.more++;
      return undefined;
    }
    if (printed.size >= MOST_KINDS) printed.clear();
    printed.set(kind, { at: now(), more: 0 });
    return last?.more ?? 0;
  };
}

/** Prints which check a request failed, and how many failed it since. */
export function createRefusalWarning(print: (line: string) => void, now: () => number) {
  const countQuiet = createQuiet(now);
  return function warn({ reason, detail, path, deliveryId }: ReceiverRefusal): void {
    const quiet = countQuiet(reason);
    if (quiet === undefined) return;
    const what = deliveryId === undefined ? 'A webhook' : `The webhook ${JSON.stringify(deliveryId)}`;
    const more = quiet > 0 ? ` (and ${quiet} more for this reason)` : '';
    // The path and the id are a stranger's words: as JSON they can't pretend to be lines of their own.
    print(`${what} to ${JSON.stringify(path)} was refused (${reason}): ${detail}${more}`);
  };
}

function createErrorPrint(now: () => number) {
  const countQuiet = createQuiet(now);
  return function print(error: unknown): void {
    const quiet = countQuiet(String(error));
    if (quiet !== undefined) printError(error, quiet);
  };
}

export function printError(error: unknown, quiet = 0): void {
  const more = quiet > 0 ? ` (and ${quiet} more like this)` : '';
  console.error(`A webhook was not processed; Herald will try again.${more}`, error);
}

function printWarning(line: string): void {
  console.warn(line);
}
