/** Calls `load` at most once every `ms`; calls in between share its promise. A failure is remembered as long. */
export function rememberFor<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let known: { readonly answer: Promise<T>; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (!known || known.until <= now) known = { answer: load(), until: now + ms };
    return known.answer;
  };
}
