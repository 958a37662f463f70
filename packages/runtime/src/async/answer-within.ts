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
