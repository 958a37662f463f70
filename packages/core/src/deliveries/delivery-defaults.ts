const DAY_MS = 86_400_000;

/** Total deadline of one attempt, unless `DELIVERY_TIMEOUT` sets another, in ms. */
export const DEFAULT_DELIVERY_TIMEOUT_MS = 15_000;
/** How long an endpoint may fail without one success, unless `DISABLE_AFTER` sets another time, in ms. */
export const DEFAULT_DISABLE_AFTER_MS = 5 * DAY_MS;
/** An endpoint is not disabled before it has failed this often in a row, however old the first failure is. */
export const DISABLE_AT_FAILURES = 10;
