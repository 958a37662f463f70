import type { AcceptanceMetrics } from '../metrics/create-acceptance-metrics.ts';
import type { Logger } from '@herald/runtime/log/logger';
import type { RedeliveryReport } from '@herald/store/deliveries/create-redeliver';

export type RedeliveryReportDeps = {
  readonly logger: Logger;
  readonly acceptance: Pick<AcceptanceMetrics, 'redeliveryRequested'>;
};

/** Tells operators of redeliveries, in the log and in the metrics. */
export function createRedeliveryReport({ logger, acceptance }: RedeliveryReportDeps): RedeliveryReport {
  return {
    requested(workspaceId, id) {
      acceptance.redeliveryRequested();
      logger.info('delivery.redelivery_requested', { deliveryId: id, workspaceId });
    },
  };
}
