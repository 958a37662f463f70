import { HistoryUnavailableError } from '@herald/core';

/** What history answers. Undefined when it is away, if what Redis has is an answer too. */
export async function whileAvailable<T>(answer: Promise<T>, hasSome: boolean): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (hasSome && error instanceof HistoryUnavailableError) return undefined;
    throw error;
  }
}
