import { ANSWER_HEADERS, type AnswerHeaders } from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import { z } from 'zod';
import { StableCode, TimeText, toTime } from '../http/to-time.ts';

const AttemptFields = {
  at: TimeText,
  durationMs: z.int().min(0),
  status: z.int().min(100).max(999).meta({ description: "The endpoint's HTTP status." }).exactOptional(),
  error: StableCode.meta({
    description: 'Why no status came, as a stable code.',
    examples: ['timeout_response', 'connection_refused', 'dns_failed', 'address_blocked'],
  }).exactOptional(),
};

/** The last attempt, in a list: without its answer. */
export const LastAttempt = z.strictObject(AttemptFields).meta({ id: 'LastAttempt' });

/** The beginning of an endpoint's answer. */
export const AnswerText = z.string().meta({
  description:
    'The first 1 KiB of the answer, as it came: escape it before you show it. What is no UTF-8 is U+FFFD. Absent when it was empty.',
});

const answerHeader = z.string().exactOptional();

export const AttemptView = z
  .strictObject({
    ...AttemptFields,
    headers: z
      .strictObject(
        Object.fromEntries(ANSWER_HEADERS.map((name) => [name, answerHeader])) as Record<
          keyof AnswerHeaders,
          typeof answerHeader
        >,
      )
      .meta({ description: 'The headers that explain the answer, the first 256 bytes of each. Absent without any.' })
      .exactOptional(),
    answer: AnswerText.exactOptional(),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request made for a delivery.' });

export function toLastAttempt({ at, durationMs, status, error }: AttemptRecord): z.infer<typeof LastAttempt> {
  return {
    at: toTime(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
  };
}

export function toAttemptView(attempt: AttemptRecord): z.infer<typeof AttemptView> {
  const { headers, answer } = attempt;
  return {
    ...toLastAttempt(attempt),
    ...(headers && { headers }),
    ...(answer !== undefined && { answer }),
  };
}
