import type { Logger } from '@herald/runtime/log/logger';
import { PURGE_LEASE_MS, type PurgeStore } from '@herald/store/purges/purge-store';
import type { DeliveryReport } from '../deliveries/create-delivery-report.ts';

export type RunPurgesDeps = {
  readonly purges: PurgeStore;
  readonly reportPurged: DeliveryReport['purged'];
  readonly logger: Logger;
  readonly now: () => number;
};

const BATCH = 10;

/**
 * Ends the waiting deliveries of endpoints that were disabled or removed. Each step is complete in itself, and the last
 * one takes the endpoint off the list: after a crash another worker goes on where this one was.
 * @returns deliveries ended
 */
export async function runPurges({ purges, reportPurged, logger, now }: RunPurgesDeps): Promise<number> {
  let total = 0;
  const at = now();
  for (const endpointId of await purges.claim(at, at + PURGE_LEASE_MS, BATCH)) {
    let count = 0;
    for await (const ended of purges.purge(endpointId, now)) {
      reportPurged(endpointId, ended);
      count += ended.length;
    }
    if (count > 0) logger.info('endpoint.pending_canceled', { endpointId, deliveries: count });
    total += count;
  }
  return total;
}
