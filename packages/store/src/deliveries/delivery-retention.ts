const DAY_MS = 86_400_000;

/** How long settled deliveries are kept, in ms. */
export type DeliveryRetention = {
  /** Of a record and its body, from settlement. */
  readonly recordMs: number;
  /** Of an entry in an endpoint's log, from acceptance: as long as its record can live. */
  readonly logMs: number;
};

/** @param recordMs `RETENTION` */
export function createDeliveryRetention(recordMs: number): DeliveryRetention {
  return { recordMs, logMs: recordMs + 5 * DAY_MS };
}
