/** The alphabet of base32 in the order of ASCII: the bytes of two ids have the order of their texts. */
const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz';
const VALUES = new Map(Array.from(ALPHABET, (character, value) => [character, value]));
const TEXT = /^[a-z]{3}_[a-z2-7]{32}$/;
const BYTES = 20;

/** The 160 bits of the id of a delivery or a transition. */
export function toIdBytes(id: string): Buffer {
  if (!TEXT.test(id)) throw new TypeError(`${id} is no id of a delivery or a transition`);
  const bytes = Buffer.alloc(BYTES);
  let buffer = 0;
  let bits = 0;
  let end = 0;
  for (let index = 4; index < id.length; index++) {
    buffer = ((buffer << 5) | (VALUES.get(id.charAt(index)) ?? 0)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[end++] = buffer >>> bits;
  }
  return bytes;
}

export const toDeliveryId = (bytes: Uint8Array): string => toId('dlv_', bytes);
export const toTransitionId = (bytes: Uint8Array): string => toId('trn_', bytes);

function toId(prefix: string, bytes: Uint8Array): string {
  let text = prefix;
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET.charAt((buffer >>> (bits - 5)) & 31);
  }
  return text;
}
