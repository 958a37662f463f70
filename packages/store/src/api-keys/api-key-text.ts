import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'hrld_';
/** Of the id of a key. */
const ID_PREFIX = 'key_';
/** Of the token of a portal link. */
const PORTAL_PREFIX = 'hrlp_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;

/**
 * `hrld_`, the 16 hex digits of the key's id, `_`, 32 random base62 characters (190 bits), and 6 of CRC32 over all that
 * is between `hrld_` and them: secret scanners tell a key from noise, and whoever finds one sees which it is.
 * @param id `key_` and 16 hex digits
 */
export const newApiKey = (id: string) => newText(PREFIX, `${id.slice(ID_PREFIX.length)}_`);

/** `hrlp_`, 32 random base62 characters, and 6 of CRC32 over them. */
export const newPortalToken = () => newText(PORTAL_PREFIX);

/** Whether a text has the form and the checksum of a key: most wrong keys need no look-up. Former keys have no id. */
export const isApiKeyText = (text: string) => hasForm(text, PREFIX, /^((?:[0-9a-f]{16}_)?[0-9A-Za-z]{32})(.{6})$/);

/** The same of the token of a portal link. */
export const isPortalTokenText = (text: string) => hasForm(text, PORTAL_PREFIX, /^([0-9A-Za-z]{32})(.{6})$/);

/** Whether somebody meant to send the token of a portal link, a cut one too. */
export const looksLikePortalToken = (text: string) => text.startsWith(PORTAL_PREFIX);

/** The id that the text of a key carries. Undefined for keys that were made before texts had one. */
export function keyIdIn(text: string): string | undefined {
  const [, digits] = /^hrld_([0-9a-f]{16})_/.exec(text) ?? [];
  return digits === undefined ? undefined : ID_PREFIX + digits;
}

function newText(prefix: string, before = ''): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(randomInt(ALPHABET.length));
  return prefix + before + random + checksumOf(before + random);
}

function hasForm(text: string, prefix: string, form: RegExp): boolean {
  const [, covered, checksum] = form.exec(text.startsWith(prefix) ? text.slice(prefix.length) : '') ?? [];
  return covered !== undefined && checksum === checksumOf(covered);
}

/** The stored forms of a key, in hex: the SHA-256 that its record is found by, and another that proves the record. */
export function digestApiKey(key: string) {
  return { lookUp: hash('sha256', key, 'hex'), proof: hash('sha256', `proof ${key}`, 'hex') };
}

/** Compares in constant time. Records of release 0.1.0 have no proof: the SHA-256 that found them is proof enough. */
export function isSameProof(given: string, stored: string | undefined): boolean {
  if (stored === undefined) return true;
  const [a, b] = [Buffer.from(given), Buffer.from(stored)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checksumOf(covered: string): string {
  let rest = crc32(covered);
  let text = '';
  while (text.length < CHECKSUM_CHARACTERS) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
