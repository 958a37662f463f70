import { z } from 'zod';
import { TimeText, toTime } from './to-time.ts';

export const SIGNING_SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

/** A signing secret in an answer. */
export const SigningSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
  .meta({
    description:
      'The signing secret, shown only in this answer. An answer that is repeated for its `Idempotency-Key` leaves it out.',
    examples: [SIGNING_SECRET_EXAMPLE],
  });

const SecretRotated = z
  .strictObject({
    secret: SigningSecret.exactOptional(),
    overlapEndsAt: TimeText.nullable().meta({
      description:
        'Until then `x-service-signature` is made with the old secret, and `webhook-signature` with both. Null: the new one alone is in force.',
    }),
  })
  .meta({ id: 'SecretRotated' });

/** The documented answer to a rotation. */
export const ROTATION_ANSWER = {
  status: 200,
  description: 'The new secret.',
  schema: SecretRotated,
  headers: ['cache-control'],
} as const;

export type RotatedSecret = { readonly secret: string; readonly overlapEndsAt: number | undefined };

/** Shows a new signing secret, this once, and when the old one stops being in force. */
export function toRotatedSecret({ secret, overlapEndsAt }: RotatedSecret): z.infer<typeof SecretRotated> {
  return { secret, overlapEndsAt: overlapEndsAt === undefined ? null : toTime(overlapEndsAt) };
}
