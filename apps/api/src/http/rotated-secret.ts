import { z } from 'zod';
import { TimeText, toTime } from './to-time.ts';

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

export type RotatedSecret = { readonly secret: string; readonly overlapEndsAt: number | undefined };

/** Shows a new signing secret, this once, and when the old one stops being in force. */
export function toRotatedSecret({ secret, overlapEndsAt }: RotatedSecret): z.infer<typeof SecretRotated> {
  return { secret, overlapEndsAt: overlapEndsAt === undefined ? null : toTime(overlapEndsAt) };
}
