import {
  ATTEMPT_ERRORS,
  BODY_NOTES,
  codesOf,
  DELIVERY_REASONS,
  PROBLEMS,
  READINESS_CODES,
  type CodeTable,
  type ProblemCode,
} from '@herald/core';

function renderCodes<Code extends string>(table: CodeTable<Code>): string {
  return codesOf(table)
    .map((code) => `- **\`${code}\`**: ${table[code].meaning} ${table[code].action}`)
    .join('\n');
}

function renderProblems(): string {
  const byStatus = (a: ProblemCode, b: ProblemCode) => PROBLEMS[a].status - PROBLEMS[b].status;
  return [...codesOf(PROBLEMS)]
    .sort(byStatus)
    .map((code) => `- **\`${code}\`** (${PROBLEMS[code].status}): ${PROBLEMS[code].meaning} ${PROBLEMS[code].action}`)
    .join('\n');
}

/** `docs/errors.md`, before its lines are wrapped. */
export function renderErrors(): string {
  return `# Error codes

Every code is stable. Each entry says what it means, then what to do. \`GET /errors\` shows the same, as JSON or as a page.
\`npm run docs:reference\` makes this page from \`packages/core/src/codes\`.

## Answers of the API

The \`code\` of an answer that is an error. Its \`detail\` is a sentence about that request.

${renderProblems()}

## Attempts

The \`error\` of an attempt that got no usable answer. Each of these failures is retried on the schedule.

${renderCodes(ATTEMPT_ERRORS)}

## Answers

The \`bodyNote\` of an attempt whose answer was odd. The status decides, so none of these is a failure.

${renderCodes(BODY_NOTES)}

## Deliveries

The \`reason\` of a delivery that failed or was canceled.

${renderCodes(DELIVERY_REASONS)}

## Readiness

The \`code\` of a problem or a warning in \`/readyz\`, of the api and of the worker. The sentence beside it has the details.

${renderCodes(READINESS_CODES)}
`;
}
