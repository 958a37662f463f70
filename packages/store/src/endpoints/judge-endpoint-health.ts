import type { EndpointRecord } from './endpoint-record.ts';
import type { GroupHealth } from './find-groups.ts';

/**
 * `paused`: it gave no answers, or asked to be left alone, and due deliveries wait. `failing`: its last
 * attempt failed. `since` is when that began, in epoch ms; for a pause that it did not cause itself, its last success.
 */
export function judgeEndpointHealth({ enabled, disabledAt, health, createdAt }: EndpointRecord, group: GroupHealth) {
  const { consecutiveFailures, failingSince, lastSuccessAt, healthySince } = health;
  const isPaused = group?.isOpen === true || group?.heldUntil !== undefined;
  const state = !enabled ? 'disabled' : isPaused ? 'paused' : consecutiveFailures > 0 ? 'failing' : 'healthy';
  const since = {
    disabled: disabledAt,
    paused: failingSince ?? lastSuccessAt,
    failing: failingSince,
    healthy: healthySince,
  }[state];
  return { state, since: since ?? createdAt } as const;
}
