import type { components } from './api/api-types.ts';

type Schemas = components['schemas'];

/** The codes of the API that this version of the package knows. A newer API may have others. */
export type ProblemCode = Schemas['ProblemCode'];

/** A field of the input that is wrong: its place, keys joined by dots, and what to change. */
export type InputProblem = { readonly path: string; readonly message: string };

export type ProblemFields = {
  readonly status: number;
  /** `unknown` if the answer is no problem of Herald, such as the page of a proxy. */
  readonly code: ProblemCode;
  /** For people: what to change. */
  readonly detail: string;
  readonly errors?: readonly InputProblem[];
  readonly requestId?: string;
  readonly retryAfterMs?: number;
};

/** Herald refused a call, or an item of a batch, or could not serve it: a problem of RFC 9457. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Stable, for programs. `GET /errors` explains each. */
  readonly code: ProblemCode;
  /** Of `validation_failed`: each field that is wrong. */
  readonly errors: readonly InputProblem[];
  /** It finds the call in the log of the service. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait before the next call. */
  readonly retryAfterMs: number | undefined;
  constructor({ status, code, detail, errors = [], requestId, retryAfterMs }: ProblemFields) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer of Herald came: it, or the line to it, is away. `cause` says more. The call may have had its effect. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The deadline of a call passed while it waited for an answer. The call may have had its effect. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  constructor(deadlineMs: number, options?: ErrorOptions) {
    super(`no answer within ${deadlineMs} ms`, options);
  }
}

/** The reporter holds as many reports as it may. This one was not taken. Await `ready()` before the next. */
export class ReporterFullError extends Error {
  override readonly name = 'ReporterFullError';
  constructor(reports: number, bytes: number) {
    super(`the reporter holds ${reports} reports (${bytes} bytes) already; await ready() before the next`);
  }
}
