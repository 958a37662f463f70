import { randomToken } from './random-token.ts';

/**
 * A token for optimistic writes. Random rather than counted: a counter could come round to an expected value by
 * somebody else's write, or by Redis coming back without its last second.
 */
export function newRevision(): string {
  return randomToken();
}
