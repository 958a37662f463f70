import { ATTEMPT_ERRORS, BODY_NOTES } from '@herald/core/codes/attempt-errors';
import { isCodeOf, type CodeEntry } from '@herald/core/codes/code-table';
import { DELIVERY_REASONS } from '@herald/core/codes/delivery-reasons';
import type { Schemas } from '../api/client.ts';
import { answerTexts } from '../texts/delivery-texts.ts';

type Outcome = { readonly status?: number | undefined; readonly error?: string | undefined };

/** Why an attempt failed, and what to do about it; undefined when it succeeded. */
export function explainAttempt({ status, error }: Outcome): CodeEntry | undefined {
  if (error !== undefined) return explainCode(error);
  if (status === undefined || (status >= 200 && status < 300)) return undefined;
  return answerTexts[status] ?? answerTexts[Math.min(600, Math.trunc(status / 100) * 100)] ?? answerTexts[600];
}

/** What a code of an attempt or a delivery means. A newer service may have one that this page doesn't know. */
export function explainCode(code: string): CodeEntry | undefined {
  if (isCodeOf(ATTEMPT_ERRORS, code)) return ATTEMPT_ERRORS[code];
  return isCodeOf(DELIVERY_REASONS, code) ? DELIVERY_REASONS[code] : undefined;
}

/** Why what is due to a receiver waits although it could be sent. Undefined: it is on its way. */
export function whyItWaits({ health, pausedAt }: Pick<Schemas['Receiver'], 'health' | 'pausedAt'>) {
  if (health.state === 'paused') {
    if (pausedAt !== undefined) return 'pausedByPlatform';
    return health.nextProbeAt === undefined ? 'held' : 'unanswered';
  }
  return health.waitingForRate === undefined ? undefined : 'rate';
}

/** What was odd about an answer, and what to do about it. A newer service may have a note that this page doesn't know. */
export function explainNote(bodyNote: string | undefined): CodeEntry | undefined {
  return isCodeOf(BODY_NOTES, bodyNote) ? BODY_NOTES[bodyNote] : undefined;
}

export function isSuccess({ status }: Outcome): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
