import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'hrld_';
/** Of the token of a portal link. */
const PORTAL_PREFIX = 'hrlp_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;

/** `hrld_`, 32 random base62 characters (190 bits), and 6 of CRC32, by which secret scanners tell a key from noise. */
export const newApiKey = () => newText(PREFIX);

/** As a key, with `hrlp_` before it. */
export const newPortalToken = () => newText(PORTAL_PREFIX);

/** Whether a text has the form and the checksum of a key: most wrong keys need no look-up. */
export const isApiKeyText = (text: string) => hasForm(text, PREFIX);

/** The same of the token of a portal link. */
export const isPortalTokenText = (text: string) => hasForm(text, PORTAL_PREFIX);

/** Whether somebody meant to send the token of a portal link, a cut one too. */
export const looksLikePortalToken = (text: string) => text.startsWith(PORTAL_PREFIX);

function newText(prefix: string): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(randomInt(ALPHABET.length));
  return prefix + random + checksumOf(random);
}

function hasForm(text: string, prefix: string): boolean {
  const match = /^([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text.startsWith(prefix) ? text.slice(prefix.length) : '');
  return match?.[1] !== undefined && match[2] === checksumOf(match[1]);
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

function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  while (text.length < CHECKSUM_CHARACTERS) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
