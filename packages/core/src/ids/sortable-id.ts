import { randomBytes } from 'node:crypto';

// Crockford's alphabet, lowercase: digits sort before letters in ASCII, so text order is numeric order.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 26 characters: 48 bits of milliseconds, then 80 random bits, as a ULID; text order is time order. */
export function sortableId(nowMs: number, random: Uint8Array = randomBytes(16)): string {
  let time = '';
  for (let rest = nowMs, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  let tail = '';
  for (let index = 0; index < 16; index++) tail += ALPHABET.charAt((random[index] ?? 0) & 31);
  return time + tail;
}
