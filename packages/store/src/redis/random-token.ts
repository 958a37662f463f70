import { randomFillSync } from 'node:crypto';

const TOKEN_BYTES = 9;
const pool = Buffer.allocUnsafe(TOKEN_BYTES * 512);
let used = pool.length;

/**
 * 72 random bits as 12 characters that fit into a header and a url. Random bytes are asked for in bulk: each asking costs as much as
 * some hundred bytes do. Not for secrets: those that are still to be given out lie in memory.
 */
export function randomToken(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += TOKEN_BYTES;
  return pool.toString('base64url', used - TOKEN_BYTES, used);
}
