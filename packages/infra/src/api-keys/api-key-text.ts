import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'hrld_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;

/** `hrld_`, 32 random base62 characters (190 bits), and 6 of CRC32, by which secret scanners know a key from noise. */
export function newApiKey(): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(randomInt(ALPHABET.length));
  return PREFIX + random + checksumOf(random);
}

/** Whether a text is a key by its form and its checksum; most wrong keys need no look-up. */
export function isApiKeyText(text: string): boolean {
  const match = /^hrld_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
  return match?.[1] !== undefined && match[2] === checksumOf(match[1]);
}

/** A key's SHA-256 in two halves, in hex: its record is found by the one and proves itself by the other. */
export type ApiKeyDigest = { readonly lookUp: string; readonly proof: string };

export function digestApiKey(key: string): ApiKeyDigest {
  const digest = hash('sha256', key, 'hex');
  return { lookUp: digest.slice(0, 32), proof: digest.slice(32) };
}

/** Compares in constant time. */
export function isSameProof(given: string, stored: string): boolean {
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
