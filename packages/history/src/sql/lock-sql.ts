/** Two numbers name an advisory lock. Nothing else uses the first. */
const ERASING = '20776, 1';

/** For a mover: from before it reads Redis until the end of its transaction, nobody erases here. */
export const LOCK_FOR_MOVING = `SELECT pg_advisory_xact_lock_shared(${ERASING})`;

/** For an eraser: waits for the movers that may have read what it has erased in Redis. */
export const LOCK_FOR_ERASING = `SELECT pg_advisory_xact_lock(${ERASING})`;
