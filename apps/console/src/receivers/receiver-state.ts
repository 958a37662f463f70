import type { Schemas } from '../api/client.ts';
import { explainAttempt } from '../deliveries/explain-attempt.ts';
import { statusText } from '../text/http-text.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { relativeTime, roughDuration } from '../time/time-text.ts';
import type { Tone } from '../ui/words.tsx';

type Receiver = Schemas['Receiver'];
type Attempt = NonNullable<Schemas['Delivery']['lastAttempt']>;

/** Why an attempt failed, what to do about it, and its status or code. */
export type CauseOfFailure = { readonly meaning: string; readonly action: string; readonly code: string };

/** The newest test of a receiver, of deliveries in any order. */
export function lastTestOf(deliveries: readonly Pick<Schemas['Delivery'], 'event' | 'lastAttempt'>[]) {
  return deliveries
    .flatMap(({ event, lastAttempt }) => (event !== 'webhook.test' || lastAttempt === null ? [] : [lastAttempt]))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0];
}

/** When a receiver was last sent an event, as far as it is known. */
export function lastAttemptAt({ lastFailure, lastSuccessAt }: Receiver['health']): string | undefined {
  const times = [lastFailure?.at, lastSuccessAt ?? undefined].filter((each) => each !== undefined);
  return times.sort((a, b) => Date.parse(b) - Date.parse(a))[0];
}

/** The first sentence of an explanation, for a list. */
export function inBrief(explanation: string): string {
  return /^.*?[.!?](?= |$)/s.exec(explanation)?.[0] ?? explanation;
}

function causeOf(attempt: Pick<Attempt, 'status' | 'error'> | undefined): CauseOfFailure | undefined {
  const explained = attempt && explainAttempt(attempt);
  return (
    explained && {
      ...explained,
      code: attempt.status === undefined ? (attempt.error ?? '') : statusText(attempt.status),
    }
  );
}

/** Of what is over. The clock of the reader may be a second behind that of the service. */
function agoText(at: string, now: number): string {
  return relativeTime(Math.min(now, Date.parse(at)), now);
}

/** A receiver's state in words, why it is so, and what that means. */
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
  test?: Attempt,
): { readonly tone: Tone; readonly state: string; readonly cause?: CauseOfFailure; readonly explanation: string } {
  const { states, explain } = receiverTexts;
  const length = roughDuration(now - Date.parse(health.since));
  const lastSuccess = health.lastSuccessAt === null ? '' : agoText(health.lastSuccessAt, now);
  const cause = causeOf(health.lastFailure);
  const forRate = health.waitingForRate ?? 0;
  const andRate = forRate === 0 ? '' : ` ${explain.waitingForRate(forRate, rateLimit?.perSecond)}`;
  switch (health.state) {
    case 'disabled': {
      const state = states.disabled(disabledAt === undefined ? '' : agoText(disabledAt, now));
      const explanation = {
        by_request: explain.by_request(disabledBy),
        locked: explain.locked(lockedReason),
        gone: explain.gone,
        failing: explain.failing_disabled,
      }[disabledReason];
      return {
        tone: disabledReason === 'locked' ? 'bad' : 'off',
        state,
        ...(disabledReason === 'failing' && cause && { cause }),
        explanation,
      };
    }
    case 'paused':
      if (pausedAt !== undefined)
        return {
          tone: 'wait',
          state: states.pausedByPlatform(length),
          explanation: explain.pausedByPlatform(pausedReason, health.backlog),
        };
      if (health.nextProbeAt !== undefined) {
        const next = relativeTime(Math.max(now, Date.parse(health.nextProbeAt)), now);
        return {
          tone: 'bad',
          state: states.unanswered(length),
          ...(cause && { cause }),
          explanation: explain.unanswered(next, health.backlog) + andRate,
        };
      }
      return {
        tone: 'wait',
        state: states.held(relativeTime(Date.parse(health.pausedUntil ?? health.since), now)),
        ...(cause && { cause }),
        explanation: explain.held(health.backlog) + andRate,
      };
    case 'failing':
      return {
        tone: 'bad',
        state: states.failing(length),
        ...(cause && { cause }),
        explanation: explain.failing(health.consecutiveFailures, lastSuccess) + andRate,
      };
    case 'healthy':
      if (forRate > 0) return { tone: 'good', state: states.atRate, explanation: andRate.trim() };
      if (lastSuccess === '' && test) return describeTest(test, now);
      if (lastSuccess === '') return { tone: 'off', state: states.untried, explanation: explain.untried };
      return { tone: 'good', state: states.healthy, explanation: explain.healthy(lastSuccess) };
  }
}

/** Of a receiver that got nothing but tests: they are no deliveries of events, and tell all the same how it does. */
function describeTest(test: Attempt, now: number) {
  const { states, explain } = receiverTexts;
  const ago = agoText(test.at, now);
  const cause = causeOf(test);
  if (cause) return { tone: 'bad', state: states.testFailed(ago), cause, explanation: explain.testFailed } as const;
  return { tone: 'good', state: states.tested(test.status ?? 0, ago), explanation: explain.tested } as const;
}

/**
 * Attempts a second in the last whole minute and the present one, and how long so many deliveries take at this pace if
 * no more come; undefined: nothing goes. @param stats those of an hour
 */
export function timeToSend(backlog: number, { buckets, until, bucketSeconds }: Schemas['Stats'], now = Date.now()) {
  const sent = buckets.slice(-2).reduce((sum, { delivered, failedAttempts }) => sum + delivered + failedAttempts, 0);
  const beganMs = Date.parse(until) - 2 * bucketSeconds * 1_000;
  const perSecond = sent / Math.min(2 * bucketSeconds, Math.max(bucketSeconds, (now - beganMs) / 1_000));
  return { perSecond, ms: perSecond > 0 ? Math.round((backlog / perSecond) * 1_000) : undefined };
}
