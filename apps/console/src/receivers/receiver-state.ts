import type { Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { relativeTime, roughDuration } from '../time/time-text.ts';
import type { Tone } from '../ui/badge.tsx';

type Receiver = Schemas['Receiver'];

/** A receiver's state in words, and what it means. `last`: what its last answer was, such as `503`. */
export function describeState(
  {
    health,
    disabledAt,
    disabledReason = 'by_request',
    disabledBy,
    lockedReason,
    pausedAt,
    pausedReason,
    rateLimit,
  }: Pick<
    Receiver,
    | 'health'
    | 'disabledAt'
    | 'disabledReason'
    | 'disabledBy'
    | 'lockedReason'
    | 'pausedAt'
    | 'pausedReason'
    | 'rateLimit'
  >,
  now: number,
  last = '',
): { readonly tone: Tone; readonly state: string; readonly explanation: string } {
  const { states, explain } = receiverTexts;
  const length = roughDuration(now - Date.parse(health.since));
  const lastSuccess = health.lastSuccessAt === null ? '' : relativeTime(Date.parse(health.lastSuccessAt), now);
  const forRate = health.waitingForRate ?? 0;
  const andRate = forRate === 0 ? '' : ` ${explain.waitingForRate(forRate, rateLimit?.perSecond)}`;
  switch (health.state) {
    case 'disabled': {
      const state = states.disabled(disabledAt === undefined ? '' : relativeTime(Date.parse(disabledAt), now));
      const explanation = {
        by_request: explain.by_request(disabledBy),
        locked: explain.locked(lockedReason),
        gone: explain.gone,
        failing: explain.failing_disabled,
      }[disabledReason];
      return { tone: disabledReason === 'locked' ? 'bad' : 'off', state, explanation };
    }
    case 'paused':
      if (pausedAt !== undefined)
        return {
          tone: 'wait',
          state: states.pausedByPlatform(length),
          explanation: explain.pausedByPlatform(pausedReason, health.backlog),
        };
      return { tone: 'wait', state: states.paused(length), explanation: explain.paused(health.backlog) + andRate };
    case 'failing':
      return {
        tone: 'bad',
        state: states.failing(length, last),
        explanation: explain.failing(health.consecutiveFailures, lastSuccess) + andRate,
      };
    case 'healthy':
      if (forRate > 0) return { tone: 'good', state: states.atRate, explanation: andRate.trim() };
      if (lastSuccess === '') return { tone: 'off', state: states.untried, explanation: explain.untried };
      return { tone: 'good', state: states.healthy, explanation: explain.healthy(lastSuccess) };
  }
}
