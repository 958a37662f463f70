import type { Claim, Logger } from '@herald/infra';

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
