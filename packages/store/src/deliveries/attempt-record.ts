import { digestOf, type ANSWER_HEADERS, type AnswerHeaders } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';
import { isIPv4 } from 'node:net';

/** An entry in a delivery's log. */
export type AttemptRecord = {
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  /** The receiver's HTTP status; absent when there was no answer. */
  readonly status?: number;
  /** Why there was no answer. */
  readonly error?: string;
  /** The first 1 KiB of the answer, as it came: whoever shows it must escape it. */
  readonly answer?: string;
  /** Headers that explain the answer; absent when it had none of them. */
  readonly headers?: AnswerHeaders;
  /** What was odd about the answer, a code. */
  readonly bodyNote?: string;
  /** The address that was connected to; absent when there was no connection, or a former version recorded it. */
  readonly address?: string;
  /** Ids of the keys that it was signed with (see `SigningKey`), that of the newest secret first. Only with an address. */
  readonly keyIds?: readonly string[];
  /** See `digestOf`, of the answer as it was read. Stored only where `answer` isn't the very bytes. */
  readonly digest?: string;
};

/** The name under which each header is stored: a million attempts pay for it. */
const STORED_NAMES = {
  'content-type': 't',
  'retry-after': 'r',
  location: 'l',
  server: 's',
  'www-authenticate': 'a',
} as const satisfies Record<(typeof ANSWER_HEADERS)[number], string>;
export const HEADER_NAMES = Object.entries(STORED_NAMES) as [keyof AnswerHeaders, string][];

type StoredAttempt = Omit<AttemptRecord, 'headers' | 'address' | 'keyIds' | 'digest'> & {
  readonly h?: Readonly<Record<string, string>>;
  /** See `writeProof`. */
  readonly p?: string;
  /** The digest. */
  readonly d?: string;
};

/** An attempt as it is stored. The same attempt is always the same text. */
export function writeAttempt({ headers, address, keyIds, digest, ...attempt }: AttemptRecord): string {
  const proof = writeProof({ address, keyIds });
  const stored: StoredAttempt = {
    ...attempt,
    ...(headers && { h: Object.fromEntries(HEADER_NAMES.flatMap(([name, to]) => toEntry(to, headers[name]))) }),
    ...(proof !== undefined && { p: proof }),
    ...(digest !== undefined && { d: digest }),
  };
  return JSON.stringify(stored);
}

function toEntry(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

/** Parses what `writeAttempt` wrote. An attempt that release 0.1.0 recorded has no headers. */
export function readAttempt(text: string): AttemptRecord {
  const { h, p, d, ...stored } = JSON.parse(text) as StoredAttempt;
  const proof = p === undefined ? undefined : readProof(p);
  const attempt = { ...stored, ...proof, ...toDigest(d, proof !== undefined, stored.answer) };
  if (!h) return attempt;
  const headers = HEADER_NAMES.flatMap(([name, stored]) => (h[stored] === undefined ? [] : [[name, h[stored]]]));
  return { ...attempt, headers: Object.fromEntries(headers) as AnswerHeaders };
}

/** What proves where an attempt went and who signed it. */
type Proof = { readonly [Name in 'address' | 'keyIds']: AttemptRecord[Name] | undefined };

/**
 * In few bytes, since every delivery pays for them, in base64url: the address (4 or 16), then three of each key. There are
 * two keys at most, so their number follows from the length.
 */
export function writeProof({ address, keyIds = [] }: Proof): string | undefined {
  if (address === undefined) return undefined;
  const keys = keyIds.join('');
  const name = `${address} ${keys}`;
  const known = PROOFS.get(name);
  if (known !== undefined) return known;
  const written = encodeProof(address, keys);
  if (written !== undefined) PROOFS.set(name, written);
  return written;
}

/** Those of late, since the attempts of an endpoint have the same. */
const PROOFS = createBoundedMap<string, string>(2_000);

function encodeProof(address: string, keys: string): string | undefined {
  const bytes = bytesOf(address);
  return bytes && Buffer.concat([bytes, Buffer.from(keys, 'hex')]).toString('base64url');
}

export function readProof(text: string): Pick<AttemptRecord, 'address' | 'keyIds'> {
  const bytes = Buffer.from(text, 'base64url');
  const addressBytes = bytes.length < 16 ? 4 : 16;
  const keys = bytes.subarray(addressBytes).toString('hex');
  return { address: toAddress(bytes.subarray(0, addressBytes)), keyIds: keys.match(/.{6}/g) ?? [] };
}

/** The digest of an answer: that which is stored, or, of one that was recorded with a proof, that of what is kept of it. */
export function toDigest(stored: string | undefined, hasProof: boolean, answer: string | undefined) {
  if (stored !== undefined) return { digest: stored };
  return hasProof && answer !== undefined ? { digest: digestOf(answer) } : {};
}

/** Four bytes or sixteen; undefined when it is no address. An IPv4 address that is written as IPv6 is one of four. */
function bytesOf(address: string): Buffer | undefined {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(plain)) return Buffer.from(plain.split('.').map(Number));
  const [head = '', tail] = (URL.parse(`http://[${plain.replace(/%.*/, '')}]`)?.hostname.slice(1, -1) ?? '').split(
    '::',
  );
  const [first, last] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  if (!first || !last || first.length + last.length === 0) return plain === '::' ? Buffer.alloc(16) : undefined;
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return Buffer.from([...first, ...zeros, ...last].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function toAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return URL.parse(`http://[${groups.join(':')}]`)?.hostname.slice(1, -1) ?? '';
}
