/** Whether something thrown is an error, of whichever realm: `instanceof` knows only its own. */
export function isErrorLike(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown && 'name' in thrown;
}

/** What something thrown says. */
export function messageOfThrown(thrown: unknown): string {
  return isErrorLike(thrown) ? thrown.message : String(thrown);
}
