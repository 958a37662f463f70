import { ValidationError } from '@herald/core';
import { z } from 'zod';

/** A time as the API shows it. */
export const TimeText = z
  .string()
  .meta({ format: 'date-time', description: 'An RFC 3339 time in UTC.', examples: ['2030-01-31T12:00:00.000Z'] });

/** @param ms epoch ms */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The cursor of the next page, in an answer. */
export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page. Null on the last one.' });

const CURSOR_RULES = {
  cursor: 'must be the nextCursor of an earlier page',
  sinceCursor: 'must be the sinceCursor of an earlier list',
};

/** Where a page ends: the number that orders the list, and the id that orders entries with the same number. */
type Position = { readonly at: number; readonly id: string };

/** A position as opaque text for callers. */
export function writeCursor({ at, id }: Position): string {
  return Buffer.from(`${at}:${id}`).toString('base64url');
}

/**
 * @param name of the parameter, and of the field of an answer that it comes from
 * @throws ValidationError if the text does not come from `writeCursor`
 */
export function readCursor(text: string | undefined, name: 'cursor' | 'sinceCursor' = 'cursor'): Position | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,15}):([a-z0-9_]{0,64})$/.exec(Buffer.from(text, 'base64url').toString());
  if (match?.[1] === undefined || match[2] === undefined) throw badCursor(name);
  return { at: Number(match[1]), id: match[2] };
}

/** Says that a cursor comes from no page of the list. */
export function badCursor(name: 'cursor' | 'sinceCursor' = 'cursor'): ValidationError {
  return new ValidationError([{ path: name, message: CURSOR_RULES[name] }]);
}

export const SIGNING_SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

/** A signing secret in an answer. */
export const SigningSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
  .meta({
    description: 'The signing secret, shown only in this answer.',
    examples: [SIGNING_SECRET_EXAMPLE],
  });

const RotationFields = {
  overlapEndsAt: TimeText.nullable().meta({
    description:
      'Until then `x-service-signature` is made with the old secret, and `webhook-signature` with both. Null: the new one alone is in force.',
  }),
};
const SecretRotated = z.strictObject({ secret: SigningSecret, ...RotationFields }).meta({ id: 'SecretRotated' });
const RepeatedRotation = z
  .strictObject(RotationFields)
  .meta({ id: 'RepeatedRotation', description: 'The answer to a rotation, repeated for its `Idempotency-Key`.' });

/** The answers of an operation that shows a secret: its own, and the one that is repeated, which lacks the secret. */
export function ShownOnce<Shown extends z.ZodType, Repeated extends z.ZodType>(
  id: string,
  shown: Shown,
  repeated: Repeated,
) {
  return z.union([shown, repeated]).meta({
    id,
    description: 'Without the secret only when the answer is repeated for its `Idempotency-Key`.',
  });
}

/** The documented answer to a rotation. */
export const ROTATION_ANSWER = {
  status: 200,
  description: 'The new secret.',
  schema: ShownOnce('SecretRotation', SecretRotated, RepeatedRotation),
  headers: ['cache-control'],
} as const;

type RotatedSecret = { readonly secret: string; readonly overlapEndsAt: number | undefined };

/** Shows a new signing secret, this once, and when the old one stops being in force. */
export function toRotatedSecret({ secret, overlapEndsAt }: RotatedSecret): z.infer<typeof SecretRotated> {
  return { secret, overlapEndsAt: overlapEndsAt === undefined ? null : toTime(overlapEndsAt) };
}
