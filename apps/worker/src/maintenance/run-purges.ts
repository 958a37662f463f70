import type { Logger } from '@herald/runtime/log/logger';
import { readPurgeMark, type PurgeStore } from '@herald/store/purges/purge-store';
import type { DeliveryReport } from '../deliveries/create-delivery-report.ts';

export type RunPurgesDeps = {
  readonly purges: PurgeStore;
  readonly reportPurged: DeliveryReport['purged'];
  readonly logger: Logger;
  readonly now: () => number;
};

const BATCH = 10;
const LEASE_MS = 60_000;

/**
 * Ends the pending deliveries of endpoints that were disabled or removed, and moves those that wait in the group of a
 * former url. A crash leaves the endpoint on the list. The next round goes through its deliveries again, which changes
 * nothing twice.
 * @returns deliveries ended
 */
export async function runPurges({ purges, reportPurged, logger, now }: RunPurgesDeps): Promise<number> {
  let total = 0;
  const at = now();
  const leaseEndsAt = at + LEASE_MS;
  for (const mark of await purges.claim(at, leaseEndsAt, BATCH)) {
    const { endpointId } = readPurgeMark(mark);
    let ended = 0;
    for await (const deliveries of purges.purge(mark, now())) {
      reportPurged(endpointId, deliveries);
      ended += deliveries.length;
    }
    await purges.finish(mark, leaseEndsAt);
    if (ended > 0) logger.info('endpoint.pending_canceled', { endpointId, deliveries: ended });
    total += ended;
  }
  return total;
}
