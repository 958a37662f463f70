const DAY_MS = 86_400_000;
/** The longest that a delivery is tried, in ms. */
const TRIED_MS = 5 * DAY_MS;
/** With a history, an entry of a log leaves with its delivery. This only ends logs to which nothing comes any more. */
const UNUSED_LOG_MS = 100 * DAY_MS;

/**
 * How long settled deliveries are kept, in ms. `expiryMs`: a record and its body, from settlement; 0: they don't expire,
 * but move to the history. `logMs`: an entry in an endpoint's log, from acceptance. It covers the longest time that the
 * record can live. `callbackMs`: a callback, beyond its Task.
 * @param recordMs `RETENTION`
 */
export function createDeliveryRetention(recordMs: number, hasHistory = false) {
  return {
    expiryMs: hasHistory ? 0 : recordMs,
    logMs: hasHistory ? UNUSED_LOG_MS : recordMs + TRIED_MS,
    callbackMs: recordMs + TRIED_MS,
  };
}
export type DeliveryRetention = ReturnType<typeof createDeliveryRetention>;
