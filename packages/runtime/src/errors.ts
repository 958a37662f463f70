/** Whether a thrown value is an error of any realm: `instanceof` recognises only those of its own. */
export function isErrorLike(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown && 'name' in thrown;
}

/** The message of a thrown value. */
export function messageOfThrown(thrown: unknown): string {
  return isErrorLike(thrown) ? thrown.message : String(thrown);
}
