/** The API refused a request, or could not serve it: a problem of RFC 9457. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  /** The places of the input that are wrong. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(status: number, body: unknown, retryAfter: string | null) {
    const problem = (typeof body === 'object' && body !== null ? body : {}) as Partial<{
      detail: string;
      code: string;
      requestId: string;
      errors: { path: string; message: string }[];
    }>;
    super(problem.detail ?? `The service answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId;
    this.retryAfterMs = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : undefined;
  }
}

/** No answer came: the service, or the line to it, is away. */
export class ApiAway extends Error {
  override readonly name = 'ApiAway';
}
