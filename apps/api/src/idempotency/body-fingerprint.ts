import { canonicalJson } from '@herald/core';
import { hash } from 'node:crypto';

/** The levels of a batch, and the 64 of each of its items. */
const DEPTH_LIMIT = 66;

/**
 * A digest that is the same for bodies with the same meaning. A client that repeats a request may serialise it anew,
 * with other white space or another order of keys. Values that are nested too deep for any operation are ignored.
 * @param lossyText the body as it came, if parsing changed numbers in it; then only the same text has the same digest
 */
export function bodyFingerprint(body: unknown, lossyText?: string): string {
  return hash('sha256', lossyText ?? canonicalJson(body, DEPTH_LIMIT), 'base64url');
}
