import type { EndpointRecord } from '@herald/infra';
import { toTime } from '../http/to-time.ts';

/** A receiver as its workspace sees it: never with its secret. */
export function toReceiverView(receiver: Omit<EndpointRecord, 'sealedSecret'>) {
  const { id, url, events, description, enabled, createdAt, disabledAt, disabledReason, health } = receiver;
  return {
    id,
    url,
    events,
    description,
    enabled,
    createdAt: toTime(createdAt),
    ...(disabledAt !== undefined && { disabledAt: toTime(disabledAt), disabledReason }),
    health: {
      consecutiveFailures: health.consecutiveFailures,
      lastSuccessAt: health.lastSuccessAt === undefined ? null : toTime(health.lastSuccessAt),
    },
  };
}
