import { HistoryUnavailableError } from '@herald/core';

/**
 * Lets each workspace do so many things at once: what is slow for one keeps no other from its connections. The others of
 * it wait for their turn, and give up with HistoryUnavailableError when their time is over.
 */
export function createTurns(most: number) {
  const waiting = new Map<string, ((given: undefined) => void)[]>();
  const running = new Map<string, number>();
  const begin = async (owner: string, remainingMs: () => number): Promise<void> => {
    const count = running.get(owner) ?? 0;
    if (count < most) {
      running.set(owner, count + 1);
      return;
    }
    const turn = Promise.withResolvers<undefined>();
    const queue = waiting.get(owner) ?? [];
    waiting.set(owner, [...queue, turn.resolve]);
    const timer = setTimeout(() => {
      waiting.set(
        owner,
        (waiting.get(owner) ?? []).filter((each) => each !== turn.resolve),
      );
      turn.reject(new HistoryUnavailableError());
    }, remainingMs());
    await turn.promise.finally(() => {
      clearTimeout(timer);
    });
  };
  const end = (owner: string): void => {
    const [next, ...others] = waiting.get(owner) ?? [];
    if (others.length > 0) waiting.set(owner, others);
    else waiting.delete(owner);
    // Its turn goes to the next.
    if (next) next(undefined);
    else if ((running.get(owner) ?? 0) > 1) running.set(owner, (running.get(owner) ?? 0) - 1);
    else running.delete(owner);
  };
  return async <T>(owner: string | undefined, remainingMs: () => number, work: () => Promise<T>): Promise<T> => {
    if (owner === undefined) return await work();
    await begin(owner, remainingMs);
    try {
      return await work();
    } finally {
      end(owner);
    }
  };
}
