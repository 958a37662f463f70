import { digestOf, type ANSWER_HEADERS, type AnswerHeaders } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async';
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
const HEADER_NAMES = Object.entries(STORED_NAMES) as [keyof AnswerHeaders, string][];

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
function writeProof({ address, keyIds = [] }: Proof): string | undefined {
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

function readProof(text: string): Pick<AttemptRecord, 'address' | 'keyIds'> {
  const bytes = Buffer.from(text, 'base64url');
  const addressBytes = bytes.length < 16 ? 4 : 16;
  const keys = bytes.subarray(addressBytes).toString('hex');
  return { address: toAddress(bytes.subarray(0, addressBytes)), keyIds: keys.match(/.{6}/g) ?? [] };
}

/** The digest of an answer: that which is stored, or, of one that was recorded with a proof, that of what is kept of it. */
function toDigest(stored: string | undefined, hasProof: boolean, answer: string | undefined) {
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

/**
 * The first attempt of a delivery lies in the fields of its record, since a list of one entry would cost as much as the
 * record. Later ones lie in the list, as does a first one that doesn't fit.
 *
 * `a`: ms since the delivery was accepted, duration in ms, and status or error code if there is one, then the proof (see
 * `writeProof`). `b`: the answer. `bd`: its digest, where that isn't the one of `b`. `h` and a letter: a header. `bn`: what
 * was odd about the answer. All but `a` is content, and goes when the payload is erased.
 */
export const FIRST_ATTEMPT = 'a';
const ANSWER = 'b';
const BODY_NOTE = 'bn';
const DIGEST = 'bd';
const HEADERS = HEADER_NAMES.map(([name, stored]) => [name, `h${stored}`] as const);
export const FIRST_ATTEMPT_CONTENT: readonly string[] = [
  ANSWER,
  BODY_NOTE,
  DIGEST,
  ...HEADERS.map(([, field]) => field),
];
export const FIRST_ATTEMPT_FIELDS: readonly string[] = [FIRST_ATTEMPT, ...FIRST_ATTEMPT_CONTENT];

/** With a longer value, Redis would turn the whole record into a table (hash-max-listpack-value). */
const LIMIT_BYTES = 64;
const FACTS = /^(-?\d+) (\d+)(?: (?:(\d+)|([a-z_]+))(?: ([\w-]{10}|[\w-]{14}|[\w-]{26}|[\w-]{30}))?)?$/;

/**
 * An attempt as fields of its delivery's record: [name, value, ...], `a` first. Undefined when it doesn't fit there.
 * @param createdAt that of the delivery, epoch ms
 */
export function writeFirstAttempt(attempt: AttemptRecord, createdAt: number): string[] | undefined {
  const { at, durationMs, status, error, answer, headers, bodyNote, digest } = attempt;
  if (status !== undefined && error !== undefined) return undefined;
  const outcome = status ?? error;
  const proof = writeProof({ address: attempt.address, keyIds: attempt.keyIds });
  const facts = [
    at - createdAt,
    durationMs,
    ...(outcome === undefined ? [] : [outcome]),
    ...(proof ? [proof] : []),
  ].join(' ');
  if (!FACTS.test(facts)) return undefined;
  const fields = [FIRST_ATTEMPT, facts];
  if (answer !== undefined) fields.push(ANSWER, answer);
  if (bodyNote !== undefined) fields.push(BODY_NOTE, bodyNote);
  if (digest !== undefined) fields.push(DIGEST, digest);
  if (headers) {
    for (const [name, field] of HEADERS) {
      const value = headers[name];
      if (value !== undefined) fields.push(field, value);
    }
  }
  return fields.every(fits) ? fields : undefined;
}

/** Half of a surrogate pair has no bytes of its own. */
function fits(value: string): boolean {
  return Buffer.byteLength(value) <= LIMIT_BYTES && value.isWellFormed();
}

/**
 * The first attempt, from the fields of its delivery's record. Undefined: the record has none.
 * @throws Error when it is damaged
 */
export function readFirstAttempt(fields: Readonly<Record<string, string>>): AttemptRecord | undefined {
  const facts = fields[FIRST_ATTEMPT];
  if (facts === undefined) return undefined;
  const [isRead, since, durationMs, status, error, proof] = FACTS.exec(facts) ?? [];
  if (isRead === undefined) throw new Error(`"${facts}" is no attempt`);
  const answer = fields[ANSWER];
  const bodyNote = fields[BODY_NOTE];
  const found = HEADERS.flatMap(([name, field]) => (fields[field] === undefined ? [] : [[name, fields[field]]]));
  return {
    at: Number(fields.at) + Number(since),
    durationMs: Number(durationMs),
    ...(status !== undefined && { status: Number(status) }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
    ...(found.length > 0 && { headers: Object.fromEntries(found) as AnswerHeaders }),
    ...(bodyNote !== undefined && { bodyNote }),
    ...(proof !== undefined && readProof(proof)),
    ...toDigest(fields[DIGEST], proof !== undefined, answer),
  };
}

/** Attempts that a delivery's log keeps: the schedule makes 10, redeliveries add to them. */
const ATTEMPT_LOG_LIMIT = 50;
const CONTENT = FIRST_ATTEMPT_CONTENT.map((name) => `'${name}'`).join(', ');

/**
 * The log of a delivery: its first attempt in its record, if it fits there (`writeFirstAttempt`), then the others in a list
 * (`writeAttempt`). `record` is the key of the record.
 *
 * `isLogged(record, attempt, first, known)` tells whether an attempt is in the log, `logAttempt(record, attempt, first,
 * known, fields)` adds it and tells whether there is a list, and `countLogged(record)` counts. attempt: its entry in the
 * list; first: its fields in the record, nil when it isn't the first or doesn't fit there; known: the FIRST_ATTEMPT of
 * the record; fields: those of the record that the caller writes afterwards. `logAttempt` needs ACCOUNT_LUA, and also tells
 * by how many bytes the list has grown, for the caller to count.
 *
 * `factsOf(first)` are the fields without what the receiver answered. `eraseFirst(record)` removes that from the record,
 * and tells whether there was any.
 */
export const FIRST_ATTEMPT_LUA = /* lua */ `
local function isLogged(record, attempt, first, known)
  -- A delivery has no two attempts of the same time and duration. The answer may have been erased meanwhile.
  if first and first[2] == known then return true end
  return redis.call('LPOS', record .. ':a', attempt) ~= false
end

local function logAttempt(record, attempt, first, known, fields)
  local list = record .. ':a'
  if first and not known and redis.call('EXISTS', list) == 0 then
    for _, each in ipairs(first) do fields[#fields + 1] = each end
    return false, 0
  end
  local length, grown = redis.call('RPUSH', list, attempt), sizeOfEntry('', attempt)
  if length < ${ATTEMPT_LOG_LIMIT} then return true, grown end
  -- The oldest leaves.
  if known then redis.call('HDEL', record, '${FIRST_ATTEMPT}', ${CONTENT}) end
  for _ = ${ATTEMPT_LOG_LIMIT} + 1, length do grown = grown - sizeOfEntry('', redis.call('LPOP', list)) end
  return true, grown
end

local function countLogged(record)
  return redis.call('HEXISTS', record, '${FIRST_ATTEMPT}') + redis.call('LLEN', record .. ':a')
end

local function factsOf(first) return first and { first[1], first[2] } end

local function eraseFirst(record) return redis.call('HDEL', record, ${CONTENT}) > 0 end
`;

/**
 * `withoutContent(attempt)`: the JSON of an attempt without what the receiver answered, for a delivery whose payload was
 * erased. When, how long, with which status or error code, to which address and by which key stays. A second run changes nothing.
 */
export const ERASED_ATTEMPT_LUA = /* lua */ `
local function withoutContent(attempt)
  local known, kept = cjson.decode(attempt), {}
  for _, name in ipairs({ 'at', 'durationMs', 'status', 'error', 'p' }) do
    if known[name] ~= nil then kept[#kept + 1] = '"' .. name .. '":' .. cjson.encode(known[name]) end
  end
  return '{' .. table.concat(kept, ',') .. '}'
end
`;

/** `lastResult(record)`: what the last attempt of a delivery came to, a status or '', and an error or nil. */
export const LAST_RESULT_LUA = /* lua */ `
local function lastResult(record)
  local last = redis.call('LINDEX', record .. ':a', -1)
  if last then
    local attempt = cjson.decode(last)
    return attempt.status and tostring(attempt.status) or '', attempt.error
  end
  local result = string.match(redis.call('HGET', record, '${FIRST_ATTEMPT}') or '', '^%S+ %S+ (%S+)') or ''
  if string.find(result, '^%d') then return result, nil end
  return '', result
end
`;
