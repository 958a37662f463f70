import { ATTEMPT_ERRORS, BODY_NOTES } from './attempt-errors.ts';
import { codesOf, isCodeOf, type CodeTable } from './code-table.ts';
import { DELIVERY_REASONS } from './delivery-reasons.ts';
import { PROBLEMS } from './problem-codes.ts';
import { READINESS_CODES } from './readiness-codes.ts';

const TABLES: Readonly<Record<string, CodeTable>> = {
  PROBLEMS,
  ATTEMPT_ERRORS,
  BODY_NOTES,
  DELIVERY_REASONS,
  READINESS_CODES,
};
const entries = Object.entries(TABLES).flatMap(([name, table]) =>
  codesOf(table).map((code) => ({ name, code, ...table[code] })),
);

test.each(entries)(
  '$code of $name is in snake_case, and has sentences that say what it means and what to do',
  (entry) => {
    expect(entry.code).toMatch(/^[a-z]+(_[a-z]+)+$|^internal$|^unavailable$|^unauthenticated$/);
    for (const sentence of [entry.meaning, entry.action]) {
      expect(sentence).toMatch(/^[A-Z`].*\.$/);
      expect(sentence?.match(/`/g)?.length ?? 0).toBe(2 * (sentence?.match(/`[^`]+`/g)?.length ?? 0));
    }
  },
);

test.each(Object.entries(PROBLEMS))('%s has a status of an error', (_code, { status }) => {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(600);
});

test.each([
  ['tls_failed', true],
  ['tls_someday', false],
  ['constructor', false],
  [undefined, false],
])('%p is a code of an attempt: %p', (text, isCode) => {
  expect(isCodeOf(ATTEMPT_ERRORS, text)).toBe(isCode);
});
