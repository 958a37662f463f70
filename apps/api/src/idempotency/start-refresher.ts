import type { IdempotencyRecord } from '@herald/store/access/idempotency-store';
import type { Logger } from '@herald/runtime/log/logger';

/** Renews the lease of a record while its request runs, so that no second run starts. Returns its stop function. */
export function startRefresher(
  record: IdempotencyRecord,
  leaseMs: number,
  logger: Logger,
  requestId: string,
): () => void {
  const timer = setInterval(() => {
    record.renew().then(
      (reply) => {
        if (reply === 'lost') logger.warn('idempotency.record_lost', { requestId });
      },
      (error: unknown) => {
        logger.warn('idempotency.renewal_failed', { requestId }, error);
      },
    );
  }, leaseMs / 3);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
