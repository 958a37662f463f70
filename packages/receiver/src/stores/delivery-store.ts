/**
 * What claiming a delivery came to. While it is claimed, nobody else gets it; `complete` marks it processed, `release` lets the
 * next try have it.
 */
export type Claim =
  | { readonly kind: 'claimed'; complete(): Promise<void>; release(): Promise<void> }
  /** Someone is at it right now. */
  | { readonly kind: 'in_progress' }
  /** It was processed before. */
  | { readonly kind: 'done' };

/** Remembers which deliveries were processed. Shared by all processes that receive for one endpoint, or it isn't much use. */
export interface DeliveryStore {
  /** Of several that ask at once, one gets the claim. A claim that is neither completed nor released must end by itself. */
  claim(deliveryId: string): Promise<Claim>;
}

export type StoreOptions = {
  /** How long a processed delivery is remembered. Default 7 days. */
  readonly ttlMs?: number;
  /**
   * When a claim ends by itself, because its process died or its handler hangs. Longer than a handler may take: past it, a repeat
   * would be processed beside it. Default 60 s.
   */
  readonly leaseMs?: number;
};

// Herald tries for 5 days, and keeps what it delivered for 7: within that time it can be told to deliver it once more.
export const DEFAULT_TTL_MS = 7 * 24 * 3_600_000;
export const DEFAULT_LEASE_MS = 60_000;

/** @throws TypeError for what is no positive number: with it nothing would be remembered. */
export function checkPositive(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(`${name} must be a whole number above 0`);
}
