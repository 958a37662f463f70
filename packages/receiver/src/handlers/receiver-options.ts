import type { HeraldEvent } from '../events/event.ts';
import type { SignatureMode } from '../signatures/judge-delivery.ts';
import { checkSecrets, type Secrets } from '../signatures/secrets.ts';
import { DEFAULT_TOLERANCE_S } from '../signatures/verify-standard.ts';
import { checkPositive, type DeliveryStore } from '../stores/delivery-store.ts';
import type { ReceiverRefusal } from './receiver-refusal.ts';
import { createRefusalWarning } from './refusal-warning.ts';

/** Finds the secrets of the endpoint that a request came to. Without any, the request is refused. */
export type FindSecrets = (request: { readonly path: string }) => Secrets | Promise<Secrets>;

export type ReceiverOptions = {
  /** The endpoint's signing secret, or several during a rotation; a function where callbacks share one handler. */
  readonly secrets: Secrets | FindSecrets;
  readonly store: DeliveryStore;
  /**
   * Called once per delivery, until it succeeds. Herald waits 15 s for the answer: write the event down here, and work
   * on it afterwards. When this throws, the answer is 500 and the next try comes here again.
   */
  readonly handle: (event: HeraldEvent, delivery: { readonly id: string }) => void | Promise<void>;
  /** Gets errors of `handle`, of the store and of the set-up. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
  /** Gets every request that was refused. Default: a warning with the check that failed, at most every ten seconds. */
  readonly onRefused?: (refusal: ReceiverRefusal) => void;
  /** Default: both. Read the README before you choose only one. */
  readonly signatures?: SignatureMode;
  /** Default 300. */
  readonly toleranceS?: number;
  /** A longer body is answered with 413. Default 1 MiB, more than any body of Herald's. */
  readonly limitBytes?: number;
  /** Epoch ms. Default: the clock. */
  readonly now?: () => number;
};

export type CheckedOptions = Required<Omit<ReceiverOptions, 'secrets'>> & { readonly findSecrets: FindSecrets };

const DEFAULT_LIMIT_BYTES = 1024 * 1024;
const MODES: readonly string[] = ['both', 'standard', 'service'] satisfies SignatureMode[];

/** @throws TypeError that says what to change */
export function checkOptions(options: ReceiverOptions): CheckedOptions {
  const { secrets, store, handle, signatures = 'both' } = options;
  if (!MODES.includes(signatures)) throw new TypeError(`signatures must be one of ${MODES.join(', ')}`);
  if (typeof secrets !== 'function' && checkSecrets(secrets).length === 0) {
    throw new TypeError('secrets must not be empty: give the secret that Herald showed at registration');
  }
  return {
    store,
    handle,
    signatures,
    findSecrets: typeof secrets === 'function' ? secrets : () => secrets,
    onError: options.onError ?? printError,
    onRefused: options.onRefused ?? createRefusalWarning(printWarning, options.now ?? Date.now),
    toleranceS: checkPositive(options.toleranceS ?? DEFAULT_TOLERANCE_S, 'toleranceS'),
    limitBytes: checkPositive(options.limitBytes ?? DEFAULT_LIMIT_BYTES, 'limitBytes'),
    now: options.now ?? Date.now,
  };
}

function printError(error: unknown): void {
  console.error('A webhook was not processed; Herald will try again.', error);
}

function printWarning(line: string): void {
  console.warn(line);
}
