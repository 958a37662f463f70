import type { Clock } from '@herald/store/redis/clock';

/** A machine whose clock agrees with that of Redis. */
export const RIGHT_CLOCK: Clock = { now: Date.now, skewMs: () => 0 };
