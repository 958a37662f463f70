import { randomToken } from './random-token.ts';

/**
 * A token for optimistic writes. It is random, as a counter could reach an expected value again: by the write of
 * another process, or because Redis comes back without its last second.
 */
export function newRevision(): string {
  return randomToken();
}
