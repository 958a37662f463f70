import { randomFillSync } from 'node:crypto';

const TOKEN_BYTES = 9;
const pool = Buffer.allocUnsafe(TOKEN_BYTES * 512);
let used = pool.length;

/**
 * 72 random bits as 12 characters that fit into a header and a url. Random bytes come in bulk, as one call costs as
 * much as some hundred bytes. Not for secrets: the bytes of later tokens lie in memory.
 */
export function randomToken(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += TOKEN_BYTES;
  return pool.toString('base64url', used - TOKEN_BYTES, used);
}

/**
 * A token for optimistic writes. It is random, as a counter could reach an expected value again: by the write of
 * another process, or because Redis comes back without its last second.
 */
export function newRevision(): string {
  return randomToken();
}
