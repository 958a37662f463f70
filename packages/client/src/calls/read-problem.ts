import { ProblemError, type InputProblem } from '../errors/problem-error.ts';

/** An answer that is no success, read to its end. */
export type Refusal = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/** The problem that an answer is, whoever sent it. */
export function readProblem({ status, headers, text }: Refusal, now: number): ProblemError {
  const { detail, code, errors, requestId } = readFields(text);
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now);
  const id = requestId ?? headers.get('x-request-id') ?? undefined;
  return new ProblemError({
    status,
    code: code ?? 'unknown',
    detail: detail ?? `answered with status ${status}, and no problem of Herald`,
    ...(errors && { errors }),
    ...(id !== undefined && { requestId: id }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

type Fields = { detail?: string; code?: string; requestId?: string; errors?: InputProblem[] };

function readFields(text: string): Fields {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? json : {};
  } catch {
    // The page of a proxy. Its status says what there is to say.
    return {};
  }
}

/** `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3). */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
