import type { DestinationHealth, EndpointRecord } from '@herald/infra';
import { toTime } from '../http/to-time.ts';
import type { ReceiverWithHealth } from './manage-receivers.ts';

/** A receiver as its workspace sees it: never with its secret. */
export function toReceiverView({ receiver, destination }: ReceiverWithHealth) {
  const { id, url, events, description, enabled, createdAt, disabledAt, disabledReason } = receiver;
  return {
    id,
    url,
    events,
    description,
    enabled,
    createdAt: toTime(createdAt),
    ...(disabledAt !== undefined && { disabledAt: toTime(disabledAt), disabledReason }),
    health: toHealth(receiver, destination),
  };
}

/**
 * `paused`: its destination gave no answers, or asked to be left alone, and what is due waits in the backlog.
 * `failing`: its last attempt failed. `since` is when that began; of a pause that it did not cause itself, its last success.
 */
function toHealth({ enabled, disabledAt, health, createdAt }: EndpointRecord, destination?: DestinationHealth) {
  const { consecutiveFailures, failingSince, lastSuccessAt, healthySince } = health;
  const isPaused = destination !== undefined && (destination.isOpen || destination.holdUntil > Date.now());
  const state = !enabled ? 'disabled' : isPaused ? 'paused' : consecutiveFailures > 0 ? 'failing' : 'healthy';
  const since = {
    disabled: disabledAt,
    paused: failingSince ?? lastSuccessAt,
    failing: failingSince,
    healthy: healthySince,
  }[state];
  return {
    state,
    since: toTime(since ?? createdAt),
    consecutiveFailures,
    backlog: destination?.backlog ?? 0,
    lastSuccessAt: lastSuccessAt === undefined ? null : toTime(lastSuccessAt),
  };
}
