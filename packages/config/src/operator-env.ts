import { problemOf, Switch } from '@herald/runtime/env/env';
import { z } from 'zod';

const PASSWORD_LENGTH = 12;
const DIFFERENT_CHARACTERS = 5;
/** Sign-in sends both credentials in one line, separated by the first colon (RFC 7617). */
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
  OPERATOR_WRITE: Switch,
});

type Given = Partial<z.infer<typeof OperatorEnv>>;

/** One credential without the other is a mistake: the pages would be missing, and nothing would say why. */
export function withBothCredentials<Schema extends z.ZodType<Given>>(schema: Schema): Schema {
  return schema
    .refine(
      ({ OPERATOR_USER: user, OPERATOR_PASSWORD: password }) => user === undefined || password !== undefined,
      problemOf('OPERATOR_PASSWORD', 'must be set, since OPERATOR_USER is (openssl rand -base64 24 makes one)'),
    )
    .refine(
      ({ OPERATOR_USER: user, OPERATOR_PASSWORD: password }) => password === undefined || user !== undefined,
      problemOf('OPERATOR_USER', 'must be set, since OPERATOR_PASSWORD is'),
    )
    .refine(
      ({ OPERATOR_USER: user, OPERATOR_PASSWORD: password }) => user === undefined || user !== password,
      problemOf('OPERATOR_PASSWORD', 'must not be the same as OPERATOR_USER'),
    );
}

export function toOperatorConfig(given: z.infer<typeof OperatorEnv>) {
  const { OPERATOR_USER: user, OPERATOR_PASSWORD: password, OPERATOR_WRITE: canWrite } = given;
  return user === undefined || password === undefined ? undefined : { user, password, canWrite };
}
/** The credentials of the operator pages, and whether they permit changes. */
export type OperatorConfig = NonNullable<ReturnType<typeof toOperatorConfig>>;
