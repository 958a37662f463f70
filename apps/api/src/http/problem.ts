import {
  codesOf,
  DomainError,
  INPUT_PROBLEM_CODES,
  PROBLEMS,
  UnavailableError,
  ValidationError,
  WorkspaceFullError,
  type CodeTable,
  type ProblemCode,
  type RequestFaultCode,
} from '@herald/core';
import { isRedisUnavailable } from '@herald/store/redis/refusal';
import type { Response } from 'express';
import { z } from 'zod';

/** A fault of a request that HTTP itself knows. Foreseen faults of the domain are `DomainError`s. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly code: RequestFaultCode;
  /** Response headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: HttpFault['code'], detail: string, headers: HttpFault['headers'] = {}) {
    super(detail);
    this.code = code;
    this.headers = headers;
  }
}

/** The client has hung up: what it asked for is given up, and nobody reads the answer. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError';
}

/**
 * Calls back once the client was answered, or has hung up. Whoever has hung up while the request was judged doesn't close
 * once more, and what waits for that would wait for ever.
 * @throws HungUpError
 */
export function onceClosed(res: Pick<Response, 'closed' | 'once'>, listener: () => void): void {
  if (res.closed) throw new HungUpError();
  res.once('close', listener);
}

const ProblemFields = {
  type: z.string().meta({
    format: 'uri-reference',
    description: 'The page that explains the code, at the origin of the service.',
    examples: ['/errors#problems-task_closed'],
  }),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string().meta({ description: 'For people: what to change.' }),
  code: CodeList('ProblemCode', PROBLEMS, 'Stable. For programs.'),
  errors: z
    .array(
      z
        .strictObject({
          path: z.string().meta({ description: 'The place in the input, keys joined by dots. Empty: all of it.' }),
          pointer: z.string().meta({ description: 'The place as a JSON pointer.', examples: ['/callback/url'] }),
          code: z.enum(INPUT_PROBLEM_CODES).meta({ description: 'Stable. For programs.' }),
          message: z.string().meta({ description: 'For people: what to change.' }),
        })
        .meta({ id: 'InputProblem' }),
    )
    .meta({ description: 'Only of `validation_failed`.' })
    .exactOptional(),
};

/** An error as RFC 9457 problem details. */
export const Problem = z.strictObject(ProblemFields);
export type Problem = z.infer<typeof Problem>;

/** The body of an answer that is an error. */
export const AnsweredProblem = z
  .strictObject({
    ...ProblemFields,
    requestId: z
      .string()
      .meta({ description: 'The `x-request-id` of the answer. It finds the request in the log of the service.' }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457), as `application/problem+json`.' });

/** How long a caller waits before it repeats a request that was answered with 503, in seconds. */
const RETRY_AFTER_S = 2;
/** And with 429, because its workspace is full. */
const ROOM_AFTER_S = 10;

/** Response headers that belong to the answer to an error. */
export function problemHeaders(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof HttpFault) return error.headers;
  if (error instanceof WorkspaceFullError) return { 'retry-after': String(ROOM_AFTER_S) };
  return toProblem(error).status === 503 ? { 'retry-after': String(RETRY_AFTER_S) } : {};
}

/** The problem that an error is answered with. It says nothing of a bug but that there was one. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ValidationError) {
    return {
      ...describeProblem('validation_failed', error.message),
      errors: error.problems.map(({ path, pointer, code, message }) => ({ path, pointer, code, message })),
    };
  }
  if (error instanceof DomainError || error instanceof HttpFault) return describeProblem(error.code, error.message);
  if (isRedisUnavailable(error)) return toProblem(new UnavailableError('the store is away for a moment; try again'));
  return describeProblem('internal', 'something went wrong on our side; the request id finds it in our log');
}

export function describeProblem(code: ProblemCode, detail: string): Problem {
  const words = code.replaceAll('_', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return { type: `/errors#problems-${code}`, title, status: PROBLEMS[code].status, detail, code };
}

/** A closed list of codes in an answer. Its description in the document has a sentence for each. */
export function CodeList<Code extends string>(id: string, table: CodeTable<Code>, about: string) {
  return z.enum(codesOf(table)).meta({ id, description: `${about}\n\n${describeCodes(table)}` });
}

/** The codes of a table with their meanings, in Markdown. */
export function describeCodes<Code extends string>(table: CodeTable<Code>): string {
  return codesOf(table)
    .map((code) => `- \`${code}\`: ${table[code].meaning}`)
    .join('\n');
}
