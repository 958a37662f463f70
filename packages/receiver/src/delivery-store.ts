import { checkPositive } from './signatures.ts';

/**
 * The result of a claim. Nothing else gets a claimed delivery. `complete` marks it as processed; `release` leaves it to
 * the next try.
 */
export type Claim =
  | {
      readonly kind: 'claimed';
      complete(): Promise<void>;
      release(): Promise<void>;
      /** Without it a claim ends by itself while a slow `handle` goes on, and a repeat runs beside it. */
      readonly renewal?: { readonly everyMs: number; renew(): Promise<void> };
    }
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
  /** When a claim ends that nobody renews, because its process died. Default 60 s. */
  readonly leaseMs?: number;
};

/** The times of a store. @throws TypeError for those that can't work */
export function checkTimes({
  // Herald tries for 5 days. It keeps deliveries for 7 days, and can be asked to redeliver them within that time.
  ttlMs = 7 * 24 * 3_600_000,
  leaseMs = 60_000,
}: StoreOptions): { readonly ttlMs: number; readonly leaseMs: number; readonly renewEveryMs: number } {
  checkPositive(ttlMs, 'ttlMs');
  checkPositive(leaseMs, 'leaseMs');
  return { ttlMs, leaseMs, renewEveryMs: Math.ceil(Math.min(leaseMs, 3_600_000) / 3) };
}

export type MemoryStoreOptions = StoreOptions & {
  /** Most processed deliveries that are remembered; the oldest are forgotten first. Default 100,000, about 11 MB. */
  readonly max?: number;
  /** Epoch ms. Default: the clock. */
  readonly now?: () => number;
};

/** A store for a single process. A restart empties it. */
export function createMemoryStore(options: MemoryStoreOptions = {}): DeliveryStore {
  const { now = Date.now } = options;
  const { ttlMs, leaseMs, renewEveryMs } = checkTimes(options);
  const max = checkPositive(options.max ?? 100_000, 'max');
  // All entries of a map last equally long, so that they expire in the order of insertion.
  const doneUntil = new Map<string, number>();
  const claims = new Map<string, { until: number }>();

  const remember = (id: string) => {
    doneUntil.delete(id);
    doneUntil.set(id, now() + ttlMs);
    for (const oldest of doneUntil.keys()) {
      if (doneUntil.size <= max) break;
      doneUntil.delete(oldest);
    }
  };
  const forgetExpired = () => {
    for (const [id, until] of doneUntil) {
      if (until > now()) break;
      doneUntil.delete(id);
    }
    for (const [id, { until }] of claims) {
      if (until > now()) break;
      claims.delete(id);
    }
  };
  return {
    claim(id) {
      forgetExpired();
      if (doneUntil.has(id)) {
        remember(id); // Herald keeps it longer when it delivers it again, and so must we
        return Promise.resolve({ kind: 'done' });
      }
      if (claims.has(id)) return Promise.resolve({ kind: 'in_progress' });
      const own = { until: now() + leaseMs };
      claims.set(id, own);
      const letGo = () => {
        // Not a later one's, should ours have ended by itself.
        const isOurs = claims.get(id) === own;
        if (isOurs) claims.delete(id);
        return isOurs;
      };
      return Promise.resolve({
        kind: 'claimed',
        complete: () => {
          remember(id);
          letGo();
          return Promise.resolve();
        },
        release: () => {
          letGo();
          return Promise.resolve();
        },
        renewal: {
          everyMs: renewEveryMs,
          renew: () => {
            own.until = now() + leaseMs;
            if (letGo()) claims.set(id, own); // as the youngest
            return Promise.resolve();
          },
        },
      });
    },
  };
}
