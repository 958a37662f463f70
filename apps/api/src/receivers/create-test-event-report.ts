import type { AcceptanceMetrics } from '../metrics/create-acceptance-metrics.ts';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import type { Logger } from '@herald/runtime/log/logger';
import type { TestEventReport } from '@herald/store/test-events/send-test-event';

export type TestEventReportDeps = {
  readonly logger: Logger;
  readonly acceptance: Pick<AcceptanceMetrics, 'testSent'>;
  readonly deliveries: Pick<DeliveryMetrics, 'created' | 'settled'>;
};

/** Tells operators of test events, in the log and in the metrics. */
export function createTestEventReport({ logger, acceptance, deliveries }: TestEventReportDeps): TestEventReport {
  return {
    created({ deliveryId, transitionId, endpointId, workspaceId }) {
      deliveries.created('webhook.test', 1);
      logger.info('test_event.created', { deliveryId, transitionId, endpointId, workspaceId });
    },
    withdrawn({ deliveryId, endpointId }, reply) {
      if (reply.kind !== 'ended') return;
      const facts = { status: 'canceled', reason: 'not_sent_in_time' } as const;
      deliveries.settled({ event: 'webhook.test', ...facts });
      logger.info('delivery.ended', { deliveryId, endpointId, event: 'webhook.test', ...facts });
    },
    ended(endpointId, outcome) {
      acceptance.testSent(outcome ? (outcome.delivered ? 'delivered' : 'not_delivered') : 'unavailable');
      if (!outcome) logger.warn('test_event.unanswered', { endpointId });
    },
  };
}
