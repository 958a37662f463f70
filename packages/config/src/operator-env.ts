import { Port, problemOf, Switch } from '@herald/runtime/env';
import { z } from 'zod';

const PASSWORD_LENGTH = 12;
const TOKEN_LENGTH = 16;
const DIFFERENT_CHARACTERS = 5;

/** Whether a secret is long enough, and not one character over and over. */
function isVaried(text: string, length: number): boolean {
  return text.length >= length && new Set(text).size >= DIFFERENT_CHARACTERS;
}

/** Without credentials the operator pages don't exist. */
export const OperatorEnv = z.object({
  OPERATOR_USER: z
    .string()
    .max(128, 'must be at most 128 characters')
    // Sign-in sends both credentials in one line, separated by the first colon (RFC 7617).
    .refine((user) => !user.includes(':'), 'must not contain a colon: sign-in could not tell it from the password')
    .optional(),
  OPERATOR_PASSWORD: z
    .string()
    .max(1_024, 'must be at most 1024 characters')
    .refine(
      (password) => isVaried(password, PASSWORD_LENGTH),
      `must have at least ${PASSWORD_LENGTH} characters, ${DIFFERENT_CHARACTERS} of them different (openssl rand -base64 24)`,
    )
    .optional(),
  OPERATOR_WRITE: Switch,
  /** Opens `/metrics` alone, as a Bearer token: with it, a scraper needs no password of people. */
  METRICS_TOKEN: z
    .string()
    .max(1_024, 'must be at most 1024 characters')
    .refine(
      (token) => isVaried(token, TOKEN_LENGTH),
      `must have at least ${TOKEN_LENGTH} characters, ${DIFFERENT_CHARACTERS} of them different (openssl rand -base64 24)`,
    )
    .refine((token) => /^[!-~]*$/.test(token), 'must be of visible ASCII characters, without spaces')
    .optional(),
  /** A port on which the operator pages are, and nothing for customers. Unset: they are at PORT. */
  OPERATOR_PORT: Port.optional(),
  OPERATOR_HOST: z.string().optional(),
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
    )
    .refine(
      ({ METRICS_TOKEN: token, OPERATOR_PASSWORD: password }) => token === undefined || token !== password,
      problemOf('METRICS_TOKEN', 'must not be the same as OPERATOR_PASSWORD: whoever scrapes would be an operator'),
    )
    .refine(
      ({ OPERATOR_HOST: host, OPERATOR_PORT: port }) => host === undefined || port !== undefined,
      problemOf('OPERATOR_PORT', 'must be set, since OPERATOR_HOST is'),
    );
}

export function toOperatorConfig(given: z.infer<typeof OperatorEnv>) {
  const { OPERATOR_USER: user, OPERATOR_PASSWORD: password, OPERATOR_WRITE: canWrite } = given;
  return user === undefined || password === undefined ? undefined : { user, password, canWrite };
}
/** The credentials of the operator pages, and whether they permit changes. */
export type OperatorConfig = NonNullable<ReturnType<typeof toOperatorConfig>>;
