import type { DeliveryQueue, Logger, PurgedDelivery, PurgeStore } from '@herald/infra';

export type SweepPurgesDeps = {
  readonly purges: PurgeStore;
  readonly queue: Pick<DeliveryQueue, 'remove'>;
  readonly reportPurged: (endpointId: string, deliveries: readonly PurgedDelivery[]) => void;
  readonly logger: Logger;
  readonly now: () => number;
};

const BATCH = 10;
const LEASE_MS = 60_000;

/**
 * Ends what was pending for endpoints that were disabled or removed, and moves what waits for a former url. A crash leaves the endpoint on the list, and the
 * next sweep goes through its deliveries again, which changes nothing twice.
 * @returns deliveries ended
 */
export async function sweepPurges({ purges, queue, reportPurged, logger, now }: SweepPurgesDeps): Promise<number> {
  let total = 0;
  const at = now();
  for (const endpointId of await purges.claim(at, at + LEASE_MS, BATCH)) {
    let ended = 0;
    for await (const deliveries of purges.purge(endpointId, now())) {
      reportPurged(endpointId, deliveries);
      await queue.remove(deliveries.map(({ id }) => id));
      ended += deliveries.length;
    }
    await purges.finish(endpointId);
    if (ended > 0) logger.info('endpoint.pending_canceled', { endpointId, deliveries: ended });
    total += ended;
  }
  return total;
}
