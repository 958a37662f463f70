import type { EndpointRecord } from './endpoint-record.ts';
import type { GroupHealth } from './find-groups.ts';

/**
 * `paused`: the platform has paused it, it gave no answers, or asked to be left alone, and due deliveries wait. `failing`: its last
 * attempt failed. `since` is when that began, in epoch ms; for a pause that it did not cause itself, its last success.
 */
export function judgeEndpointHealth(endpoint: EndpointRecord, group: GroupHealth) {
  const { enabled, disabledAt, pausedAt, health, createdAt } = endpoint;
  const { consecutiveFailures, failingSince, lastSuccessAt, healthySince } = health;
  const isPaused = pausedAt !== undefined || group?.isOpen === true || group?.heldUntil !== undefined;
  const state = !enabled ? 'disabled' : isPaused ? 'paused' : consecutiveFailures > 0 ? 'failing' : 'healthy';
  const since = {
    disabled: disabledAt,
    paused: pausedAt ?? failingSince ?? lastSuccessAt,
    failing: failingSince,
    healthy: healthySince,
  }[state];
  return { state, since: since ?? createdAt } as const;
}
