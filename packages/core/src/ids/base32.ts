const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_OF_PAIR = 10;
/** Two characters at a time: half the steps of one. */
const PAIRS = Array.from(
  { length: 1 << BITS_OF_PAIR },
  (_, bits) => ALPHABET.charAt(bits >>> 5) + ALPHABET.charAt(bits & 31),
);

/** RFC 4648 base32 in lowercase, without padding. 20 bytes give 32 characters. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    if (bits >= BITS_OF_PAIR) {
      bits -= BITS_OF_PAIR;
      text += PAIRS[buffer >>> bits] ?? '';
      buffer &= (1 << bits) - 1;
    }
  }
  if (bits > 5) return text + (PAIRS[buffer << (BITS_OF_PAIR - bits)] ?? '');
  return bits > 0 ? text + ALPHABET.charAt(buffer << (5 - bits)) : text;
}
