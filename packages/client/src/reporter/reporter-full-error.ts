/** The reporter holds as many reports as it may. This one was not taken. Await `ready()` before the next. */
export class ReporterFullError extends Error {
  override readonly name = 'ReporterFullError';
  constructor(maxHeld: number) {
    super(`the reporter holds ${maxHeld} reports already; await ready() before the next`);
  }
}
