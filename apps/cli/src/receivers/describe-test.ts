import { plainText } from '@herald/core';
import type { TestOutcome } from '@herald/store/test-events/send-test-event';

/** Characters of an answer that are shown; --json has its first 1 KiB. */
const ANSWER_LENGTH = 200;

/** The outcome of a test event in a sentence, with the beginning of the answer and the id of the delivery. */
export function describeTest(outcome: TestOutcome): string {
  const { delivered, deliveryId, durationMs, error } = outcome;
  const what = error ?? answeredWith(outcome);
  const took = durationMs === undefined ? '' : ` after ${durationMs} ms`;
  return `${delivered ? 'Delivered' : 'Not delivered'} (${deliveryId}): ${what}${took}${answerOf(outcome)}.`;
}

function answeredWith({ receiverStatus, bodyNote }: TestOutcome): string {
  return `it answered ${receiverStatus}${bodyNote === undefined ? '' : ` (${bodyNote})`}`;
}

function answerOf(outcome: TestOutcome): string {
  const answer = plainText(outcome.answer ?? '').trim();
  if (answer === '') return '';
  return `, "${answer.length > ANSWER_LENGTH ? `${answer.slice(0, ANSWER_LENGTH)}…` : answer}"`;
}
