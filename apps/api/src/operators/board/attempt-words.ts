import { plainText } from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';

/** How much of an answer a line shows, in characters. The customer's log has 1 KiB. */
const ANSWER_LENGTH = 200;

/** The outcome of an attempt, in words. */
export function toWords({ status, error, bodyNote }: AttemptRecord): string {
  if (status === undefined) return `no answer (${error ?? 'unknown'})`;
  return `answered ${status}${bodyNote === undefined ? '' : ` (${bodyNote})`}`;
}

export function hasSucceeded({ status }: AttemptRecord): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** An attempt as a line of a log, with the beginning of the answer. It is text: the page escapes it. */
export function toLogLine(attempt: AttemptRecord): string {
  const line = `${new Date(attempt.at).toISOString()} ${toWords(attempt)} after ${attempt.durationMs} ms`;
  const answer = plainText(attempt.answer ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (answer === '') return line;
  return `${line}: ${answer.length > ANSWER_LENGTH ? `${answer.slice(0, ANSWER_LENGTH)}…` : answer}`;
}
