/** The promise's value, or that of `otherwise` after `ms`. A value or an error that comes later is dropped. */
export async function answerWithin<T, U>(ms: number, promise: Promise<T>, otherwise: () => U): Promise<T | U> {
  const { promise: overdue, resolve } = Promise.withResolvers<'overdue'>();
  const timer = setTimeout(resolve, ms, 'overdue');
  promise.catch(() => undefined);
  try {
    const answer = await Promise.race([promise.then((value) => ({ value })), overdue]);
    return answer === 'overdue' ? otherwise() : answer.value;
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps runs from overlapping: a call while a run is under way gets that run's result, and starts no other. */
export function oneAtATime<T>(run: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= run().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** Calls `load` at most once every `ms`; calls in between share its promise. A failure is remembered as long. */
export function rememberFor<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let known: { readonly answer: Promise<T>; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (!known || known.until <= now) known = { answer: load(), until: now + ms };
    return known.answer;
  };
}

/** A map of at most `limit` entries: the oldest one makes room for a new one. */
export function createBoundedMap<Key, Value>(limit: number): Pick<Map<Key, Value>, 'get' | 'set' | 'delete'> {
  const entries = new Map<Key, Value>();
  return {
    get: (key) => entries.get(key),
    delete: (key) => entries.delete(key),
    set(key, value) {
      const oldest = entries.keys().next();
      if (entries.size >= limit && !entries.has(key) && oldest.done !== true) entries.delete(oldest.value);
      return entries.set(key, value);
    },
  };
}
