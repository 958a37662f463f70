/**
 * The result of a claim. Nothing else gets a claimed delivery. `complete` marks it as processed; `release` leaves it to
 * the next try.
 */
export type Claim =
  | { readonly kind: 'claimed'; complete(): Promise<void>; release(): Promise<void> }
  /** It is being processed. */
  | { readonly kind: 'in_progress' }
  /** It was processed before. */
  | { readonly kind: 'done' };

/** Remembers which deliveries were processed. All processes of one endpoint must share it. */
export interface DeliveryStore {
  /** Only one of several concurrent calls gets the claim. A claim that isn't completed or released must expire. */
  claim(deliveryId: string): Promise<Claim>;
}

export type StoreOptions = {
  /** How long a processed delivery is remembered. Default 7 days. */
  readonly ttlMs?: number;
  /**
   * When a claim expires, because its process died or its handler hangs. It must be longer than a handler may take:
   * later, a repeated delivery would be processed at the same time. Default 60 s.
   */
  readonly leaseMs?: number;
};

// Herald tries for 5 days. It keeps deliveries for 7 days, and can be asked to redeliver them within that time.
export const DEFAULT_TTL_MS = 7 * 24 * 3_600_000;
export const DEFAULT_LEASE_MS = 60_000;

/** @throws TypeError unless it is a positive number: otherwise nothing would be remembered. */
export function checkPositive(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(`${name} must be a whole number above 0`);
}
