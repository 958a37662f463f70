/** The body is no event of Herald's: it isn't JSON, or lacks a required field. */
export class EventFormatError extends Error {
  override readonly name = 'EventFormatError';
  readonly code = 'event_format';
  /** The path of the field, such as `task.id`; empty for the whole body. */
  readonly path: string;
  constructor(path: string, expected: string) {
    super(`the webhook's body is no event: ${path === '' ? 'it' : path} must be ${expected}`);
    this.path = path;
  }
}
