import {
  checkPositive,
  DEFAULT_LEASE_MS,
  DEFAULT_TTL_MS,
  type DeliveryStore,
  type StoreOptions,
} from './delivery-store.ts';

export type MemoryStoreOptions = StoreOptions & {
  /** Most processed deliveries that are remembered; the oldest are forgotten first. Default 100,000, about 20 MB. */
  readonly max?: number;
  /** Epoch ms. Default: the clock. */
  readonly now?: () => number;
};

/** A store for a single process. A restart empties it. */
export function createMemoryStore(options: MemoryStoreOptions = {}): DeliveryStore {
  const { now = Date.now } = options;
  const ttlMs = checkPositive(options.ttlMs ?? DEFAULT_TTL_MS, 'ttlMs');
  const leaseMs = checkPositive(options.leaseMs ?? DEFAULT_LEASE_MS, 'leaseMs');
  const max = checkPositive(options.max ?? 100_000, 'max');
  // All entries of a map last equally long, so that they expire in the order of insertion.
  const doneUntil = new Map<string, number>();
  const claims = new Map<string, { readonly until: number }>();

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
        if (claims.get(id) === own) claims.delete(id); // not a later one's, should ours have ended by itself
        return Promise.resolve();
      };
      return Promise.resolve({
        kind: 'claimed',
        complete: () => {
          remember(id);
          return letGo();
        },
        release: letGo,
      });
    },
  };
}
