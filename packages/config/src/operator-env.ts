import { z } from 'zod';

/** Who may see the operator pages, and whether he may act there. */
export type OperatorConfig = { readonly user: string; readonly password: string; readonly canWrite: boolean };

const PASSWORD_LENGTH = 12;
const DIFFERENT_CHARACTERS = 5;
/** Sign-in sends both in one line, divided by the first colon (RFC 7617). */
const UNSENDABLE = /\p{Cc}/u;

/** Without credentials the operator pages don't exist. */
export const OperatorEnv = z.object({
  OPERATOR_USER: z
    .string()
    .max(128, 'must be at most 128 characters')
    .refine((user) => !user.includes(':'), 'must not contain a colon: sign-in could not tell it from the password')
    .refine((user) => !UNSENDABLE.test(user), 'must not contain control characters')
    .optional(),
  OPERATOR_PASSWORD: z
    .string()
    .max(1_024, 'must be at most 1024 characters')
    .refine(
      (password) => password.length >= PASSWORD_LENGTH && new Set(password).size >= DIFFERENT_CHARACTERS,
      `must have at least ${PASSWORD_LENGTH} characters, ${DIFFERENT_CHARACTERS} of them different (openssl rand -base64 24)`,
    )
    .refine((password) => !UNSENDABLE.test(password), 'must not contain control characters')
    .optional(),
  OPERATOR_WRITE: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((text) => text === 'true'),
});

type Given = { readonly OPERATOR_USER?: string | undefined; readonly OPERATOR_PASSWORD?: string | undefined };

/** One credential without the other is a mistake, and would leave the pages away without a word. */
export function withBothCredentials<Schema extends z.ZodType<Given>>(schema: Schema): Schema {
  // Beside what else is wrong, not only once the rest is right.
  const when = () => true;
  return schema
    .refine(({ OPERATOR_USER: user, OPERATOR_PASSWORD: password }) => user === undefined || password !== undefined, {
      path: ['OPERATOR_PASSWORD'],
      when,
      error: 'must be set, since OPERATOR_USER is (openssl rand -base64 24 makes one)',
    })
    .refine(({ OPERATOR_USER: user, OPERATOR_PASSWORD: password }) => password === undefined || user !== undefined, {
      path: ['OPERATOR_USER'],
      when,
      error: 'must be set, since OPERATOR_PASSWORD is',
    })
    .refine(({ OPERATOR_USER: user, OPERATOR_PASSWORD: password }) => user === undefined || user !== password, {
      path: ['OPERATOR_PASSWORD'],
      when,
      error: 'must not be the same as OPERATOR_USER',
    });
}

export function toOperatorConfig(given: Given & { readonly OPERATOR_WRITE: boolean }): OperatorConfig | undefined {
  const { OPERATOR_USER: user, OPERATOR_PASSWORD: password, OPERATOR_WRITE: canWrite } = given;
  return user === undefined || password === undefined ? undefined : { user, password, canWrite };
}
