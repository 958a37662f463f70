import {
  ATTEMPT_ERRORS,
  BODY_NOTES,
  codesOf,
  DELIVERY_REASONS,
  PROBLEMS,
  READINESS_CODES,
  type CodeEntry,
  type CodeTable,
} from '@herald/core';
import { z } from 'zod';

const Entry = {
  code: z.string(),
  meaning: z.string(),
  action: z.string().meta({ description: 'What to do.' }),
};
const List = (description: string) => z.array(z.strictObject(Entry)).meta({ description });

/** Every stable code of Herald, by where it shows. */
export const ErrorCodes = z
  .strictObject({
    problems: z
      .array(z.strictObject({ ...Entry, status: z.int().min(400).max(599) }))
      .meta({ description: 'The `code` of an answer that is an error.' }),
    attempts: List('The `error` of an attempt that got no usable answer.'),
    answers: List('The `bodyNote` of an attempt whose answer was odd. None is a failure.'),
    deliveries: List('The `reason` of a delivery that failed or was canceled.'),
    readiness: List('The `code` of a problem or a warning in `/readyz`.'),
  })
  .meta({ id: 'ErrorCodes', description: 'What each code means, and what to do.' });

export const ERROR_CODES: z.infer<typeof ErrorCodes> = {
  problems: codesOf(PROBLEMS)
    .map((code) => ({ code, ...PROBLEMS[code] }))
    .sort((a, b) => a.status - b.status),
  attempts: toList(ATTEMPT_ERRORS),
  answers: toList(BODY_NOTES),
  deliveries: toList(DELIVERY_REASONS),
  readiness: toList(READINESS_CODES),
};

function toList<Code extends string>(table: CodeTable<Code>) {
  return Object.entries<CodeEntry>(table).map(([code, { meaning, action }]) => ({ code, meaning, action }));
}
