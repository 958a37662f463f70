/** The deadline of a call passed while it waited for an answer. The call may have had its effect. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  constructor(deadlineMs: number, options?: ErrorOptions) {
    super(`no answer within ${deadlineMs} ms`, options);
  }
}
