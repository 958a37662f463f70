import type { Claim } from '@herald/store/idempotency/claim-store';
import type { Logger } from '@herald/runtime/log/logger';

/**
 * Renews a claim while its request runs, so that no second run begins beside a slow one.
 * @returns ends the renewal
 */
export function holdClaim(claim: Claim, leaseMs: number, logger: Logger, requestId: string): () => void {
  const timer = setInterval(() => {
    claim.renew().then(
      (reply) => {
        if (reply === 'lost') logger.warn('idempotency.claim_lost', { requestId });
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
