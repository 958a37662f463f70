import { TRIED_MS, UNUSED_LOG_MS } from '../logs/segment-lua.ts';

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
