import type { EndpointRecord } from './endpoint-record.ts';
import type { DestinationHealth } from './find-destinations.ts';

/**
 * `paused`: its destination gave no answers, or asked to be left alone, and what is due waits.
 * `failing`: its last attempt failed. `since` (epoch ms) is when that began; of a pause that it did not cause itself, its
 * last success.
 */
export type EndpointState = {
  readonly state: 'healthy' | 'failing' | 'paused' | 'disabled';
  readonly since: number;
};

export function judgeEndpointHealth(
  { enabled, disabledAt, health, createdAt }: EndpointRecord,
  destination: DestinationHealth | undefined,
): EndpointState {
  const { consecutiveFailures, failingSince, lastSuccessAt, healthySince } = health;
  const isPaused = destination !== undefined && (destination.isOpen || destination.heldUntil !== undefined);
  const state = !enabled ? 'disabled' : isPaused ? 'paused' : consecutiveFailures > 0 ? 'failing' : 'healthy';
  const since = {
    disabled: disabledAt,
    paused: failingSince ?? lastSuccessAt,
    failing: failingSince,
    healthy: healthySince,
  }[state];
  return { state, since: since ?? createdAt };
}
