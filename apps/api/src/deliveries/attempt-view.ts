import {
  ANSWER_HEADERS,
  ATTEMPT_ERRORS,
  BODY_NOTES,
  isCodeOf,
  type AnswerHeaders,
  type AttemptError,
} from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import { z } from 'zod';
import { CodeList } from '../http/problem.ts';
import { TimeText, toTime } from '../http/to-time.ts';

/** Why an attempt got no status. */
export const AttemptErrorCode = CodeList('AttemptError', ATTEMPT_ERRORS, 'Why no usable answer came.');

const AttemptFields = {
  at: TimeText,
  durationMs: z.int().min(0),
  status: z.int().min(100).max(999).meta({ description: "The endpoint's HTTP status." }).exactOptional(),
  error: AttemptErrorCode.exactOptional(),
};

/** A note that a newer version made is left out. */
export const BodyNoteCode = CodeList(
  'BodyNote',
  BODY_NOTES,
  'What was odd about the answer. It changes nothing: the status decides. Absent when nothing was.',
);

/** The last attempt, in a list: without its answer. */
export const LastAttempt = z.strictObject(AttemptFields).meta({ id: 'LastAttempt' });

/** The beginning of an endpoint's answer. */
export const AnswerText = z.string().meta({
  description:
    'The first 1 KiB of the answer, as it came. Escape it before you show it. Invalid UTF-8 is U+FFFD. Absent when it was empty.',
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
      .meta({
        description: 'The headers that explain the answer, the first 256 bytes of each. Absent if there are none.',
      })
      .exactOptional(),
    answer: AnswerText.exactOptional(),
    bodyNote: BodyNoteCode.exactOptional(),
    address: z
      .string()
      .meta({
        description:
          'The IP address that was called; through a proxy of the platform, the address of that. Absent when there was no connection.',
        examples: ['203.0.113.7'],
      })
      .exactOptional(),
    keyIds: z
      .array(z.string())
      .meta({
        description:
          'Ids of the signing secrets that were used: the first 6 hexadecimal digits of the SHA-256 of the secret as it was shown. During a rotation first the new one, then the former one, which made `x-service-signature`.',
        examples: [['5f2a90']],
      })
      .exactOptional(),
    answerDigest: z
      .string()
      .meta({
        description:
          'The first 32 hexadecimal digits of the SHA-256 of the body of the answer, as far as it was read (at most 64 KiB). Absent when there was none.',
        examples: ['2689367b205c16ce32ed4200942b8b8b'],
      })
      .exactOptional(),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request made for a delivery.' });

export function toLastAttempt({ at, durationMs, status, error }: AttemptRecord): z.infer<typeof LastAttempt> {
  return {
    at: toTime(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error: toAttemptError(error) }),
  };
}

/** A code of a newer version's worker reads as the most general one. */
export function toAttemptError(code: string): AttemptError {
  return isCodeOf(ATTEMPT_ERRORS, code) ? code : 'connection_failed';
}

export function toAttemptView(attempt: AttemptRecord): z.infer<typeof AttemptView> {
  const { headers, answer, bodyNote, address, keyIds, digest } = attempt;
  return {
    ...toLastAttempt(attempt),
    ...(headers && { headers }),
    ...(answer !== undefined && { answer }),
    ...(isCodeOf(BODY_NOTES, bodyNote) && { bodyNote }),
    ...(address !== undefined && { address }),
    ...(keyIds && { keyIds: [...keyIds] }),
    ...(digest !== undefined && { answerDigest: digest }),
  };
}
