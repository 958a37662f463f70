/** No answer of Herald came: it, or the line to it, is away. `cause` says more. The call may have had its effect. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
