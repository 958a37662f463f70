/**
 * Asks at most once in `ms`, however many want to know: those that come meanwhile get the same answer, also while it is
 * still on its way. A failure is remembered just as long.
 */
export function rememberFor<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let known: { readonly answer: Promise<T>; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (!known || known.until <= now) known = { answer: load(), until: now + ms };
    return known.answer;
  };
}
