const DAY_MS = 86_400_000;

/**
 * How long settled deliveries are kept, in ms. `recordMs`: a record and its body, from settlement. `logMs`: an entry in
 * an endpoint's log, from acceptance. It covers the longest time that the record can live.
 * @param recordMs `RETENTION`
 */
export function createDeliveryRetention(recordMs: number) {
  return { recordMs, logMs: recordMs + 5 * DAY_MS };
}
export type DeliveryRetention = ReturnType<typeof createDeliveryRetention>;
