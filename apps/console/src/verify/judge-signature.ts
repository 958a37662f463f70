type Reason =
  | 'headers_missing'
  | 'secret_missing'
  | 'secret_form'
  | 'service_holds'
  | 'service_missing'
  | 'service_malformed'
  | 'service_old_secret'
  | 'standard_holds'
  | 'standard_missing'
  | 'too_old'
  | 'ids_differ'
  | 'length_differs'
  | 'other_secret'
  | 'sent_right'
  | 'sent_former'
  | 'sent_newer'
  | 'sent_other'
  | 'sent_service'
  | 'sent_standard'
  | 'computed_right'
  | 'computed_unknown'
  | `key_${Exclude<Match['key'], 'shown'>}`
  | `key_shown_whole`
  | `body_${Exclude<Match['body'], 'pasted'>}`
  | `computed_${'key' | 'body'}_${string}`;

/** `good`: it holds. `bad`: it doesn't, and why. `warn`: a library may refuse it all the same. */
export type Finding = {
  readonly tone: 'good' | 'bad' | 'warn';
  readonly reason: Reason;
  /** A header as it was sent, or ids of secrets. */
  readonly code?: string;
};

export type Delivered = {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** One, or the new and the old one during a rotation. */
  readonly secrets: readonly string[];
  /** What the receiver's own code computed, if that was given. */
  readonly computed?: string | undefined;
  /** Of an attempt that Herald made: ids of the secrets that signed it, the newest first. Its signatures are not kept. */
  readonly keyIds?: readonly string[] | undefined;
  readonly now: number;
};

const SECRET = /^whsec_[A-Za-z0-9+/]{22,}={0,2}$/;
const TOLERANCE_S = 300;

/** Whether the signatures of a delivery hold, and if not, why. Nothing leaves the browser. */
export async function judgeSignature(delivered: Delivered): Promise<Finding[]> {
  const { headers, secrets, keyIds = [] } = delivered;
  const isUnsigned = !isSigned(headers);
  if (isUnsigned && keyIds.length === 0) return [bad('headers_missing')];
  if (secrets.length === 0) return [bad('secret_missing')];
  // Every other finding would come from this one.
  if (!secrets.every((secret) => SECRET.test(secret))) return [bad('secret_form')];
  if (isUnsigned) return [...(await judgeSent(delivered, keyIds)), ...(await judgeComputed(delivered))];
  const standard = await judgeStandard(delivered);
  const standardHolds = standard.some(({ reason }) => reason === 'standard_holds');
  const service = await judgeService(delivered, standardHolds);
  const [plainId, signedId] = [headers.get('x-service-delivery'), headers.get('webhook-id')];
  return [
    ...service,
    // The same cause twice helps nobody.
    ...standard.filter(({ reason }) => !service.some((each) => each.reason === reason)),
    ...(plainId !== undefined && signedId !== undefined && plainId !== signedId ? [bad('ids_differ')] : []),
    ...(await judgeComputed(delivered)),
  ];
}

async function judgeService({ headers, body, secrets }: Delivered, standardHolds: boolean): Promise<Finding[]> {
  const given = headers.get('x-service-signature');
  if (given === undefined) return [{ tone: 'warn', reason: 'service_missing' }];
  if (!/^sha256=[0-9a-f]{64}$/.test(given)) return [bad('service_malformed')];
  const match = await findMatch({ signature: given.slice('sha256='.length), secrets, body });
  if (match?.key === 'shown' && match.body === 'pasted') return [{ tone: 'good', reason: 'service_holds' }];
  if (match) return explain(match, 'shown');
  return [bad(standardHolds ? 'service_old_secret' : whatElse(headers, body))];
}

async function judgeStandard({ headers, body, secrets, now }: Delivered): Promise<Finding[]> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const [id = '', timestamp = '', given = ''] = names.map((name) => headers.get(name));
  if (id === '' || timestamp === '' || given === '') return [{ tone: 'warn', reason: 'standard_missing' }];
  const isOld = !(Math.abs(now / 1_000 - Number(timestamp)) <= TOLERANCE_S);
  const age: Finding[] = isOld ? [{ tone: 'warn', reason: 'too_old' }] : [];
  for (const each of given.split(' ')) {
    const signature = /^v1,(.+)$/.exec(each)?.[1];
    if (signature === undefined) continue;
    const match = await findMatch({ signature, secrets, body, before: `${id}.${timestamp}.` });
    if (match?.key === 'decoded' && match.body === 'pasted')
      return [{ tone: 'good', reason: 'standard_holds' }, ...age];
    if (match) return [...explain(match, 'decoded'), ...age];
  }
  return [bad(whatElse(headers, body)), ...age];
}

/** Whether an attempt was signed with one of the secrets, and what it then carried. */
async function judgeSent({ headers, body, secrets }: Delivered, keyIds: readonly string[]): Promise<Finding[]> {
  const given = await Promise.all(secrets.map(async (secret) => ({ secret, id: await keyIdOf(secret) })));
  const signers = keyIds.map((id) => given.find((each) => each.id === id)?.secret);
  if (signers.every((secret) => secret === undefined))
    return [{ ...bad('sent_other'), code: `${keyIds.join(', ')} ≠ ${given.map(({ id }) => id).join(', ')}` }];
  const service = signers.at(-1);
  const reason = signers.every((secret) => secret !== undefined)
    ? 'sent_right'
    : service === undefined
      ? 'sent_newer'
      : 'sent_former';
  const findings: Finding[] = [{ tone: reason === 'sent_right' ? 'good' : 'warn', reason }];
  if (service !== undefined) {
    const code = `x-service-signature: sha256=${toHex(await hmac(toBytes(service), toBytes(body)))}`;
    findings.push({ tone: 'good', reason: 'sent_service', code });
  }
  const before = `${headers.get('webhook-id') ?? ''}.${headers.get('webhook-timestamp') ?? ''}.`;
  const standard: string[] = [];
  for (const secret of signers) {
    const key = secret === undefined ? undefined : fromBase64(secret.slice(PREFIX.length));
    if (key) standard.push(`v1,${toBase64(await hmac(key, toBytes(before + body)))}`);
  }
  findings.push({ tone: 'good', reason: 'sent_standard', code: `webhook-signature: ${standard.join(' ')}` });
  return findings;
}

/** As attempts name the secrets that signed them. */
async function keyIdOf(secret: string): Promise<string> {
  return toHex(await digest(toBytes(secret))).slice(0, 6);
}

/** Where neither key nor body explain it, the length of the body tells whether it was changed. */
function whatElse(headers: ReadonlyMap<string, string>, body: string): Reason {
  const length = headers.get('content-length');
  return length !== undefined && Number(length) !== toBytes(body).length ? 'length_differs' : 'other_secret';
}

function explain({ key, body }: Match, right: 'shown' | 'decoded'): Finding[] {
  return [
    ...(key === right ? [] : [bad(key === 'shown' ? 'key_shown_whole' : `key_${key}`)]),
    ...(body === 'pasted' ? [] : [bad(`body_${body}` as const)]),
  ];
}

/** What the receiver's own code must have done to get its signature. */
async function judgeComputed({ headers, body, secrets, computed = '' }: Delivered): Promise<Finding[]> {
  const signature = computed.trim().replace(/^(sha256=|v1,)/, '');
  if (signature === '') return [];
  const before = `${headers.get('webhook-id') ?? ''}.${headers.get('webhook-timestamp') ?? ''}.`;
  const plain = await findMatch({ signature, secrets, body });
  const match = plain ?? (await findMatch({ signature, secrets, body, before }));
  if (!match) return [bad('computed_unknown')];
  const right = plain ? 'shown' : 'decoded';
  const reasons: Reason[] = [
    ...(match.key === right ? [] : [`computed_key_${match.key}` as const]),
    ...(match.body === 'pasted' ? [] : [`computed_body_${match.body}` as const]),
  ];
  return reasons.length === 0 ? [{ tone: 'good', reason: 'computed_right' }] : reasons.map(bad);
}

function bad(reason: Reason): Finding {
  return { tone: 'bad', reason };
}

/** With which key over which body a signature was made. */
type Match = { readonly key: KeyKind; readonly body: BodyKind; readonly isHex: boolean };

type Search = {
  /** Without `sha256=` or `v1,`. */
  readonly signature: string;
  readonly secrets: readonly string[];
  readonly body: string;
  /** What is signed before the body: `id.timestamp.` in Standard Webhooks. */
  readonly before?: string;
};

/** Finds with what a signature was made, among what people get wrong; undefined when it is none of that. */
async function findMatch({ signature, secrets, body, before = '' }: Search): Promise<Match | undefined> {
  const head = toBytes(before);
  for (const secret of secrets) {
    for (const key of keysOf(secret)) {
      for (const variant of bodiesOf(body)) {
        const made = await hmac(key.bytes, new Uint8Array([...head, ...variant.bytes]));
        if (made.length === 0) continue;
        const isHex = toHex(made) === signature.toLowerCase();
        if (isHex || toBase64(made) === signature) return { key: key.kind, body: variant.kind, isHex };
      }
    }
  }
  return undefined;
}

/** What a key may have been made of. `shown` is the whole secret, `decoded` the bytes behind its prefix. */
type KeyKind = 'shown' | 'decoded' | 'unprefixed' | 'padded';
/** What may have happened to a body on its way. */
type BodyKind = 'pasted' | 'newline_added' | 'newline_removed' | 'trimmed' | 'crlf' | 'minified' | 'indented';

type Variant<Kind> = { readonly kind: Kind; readonly bytes: Uint8Array<ArrayBuffer> };

const PREFIX = 'whsec_';

/** The keys that people make of a secret, the right ones among them. */
function keysOf(secret: string): Variant<KeyKind>[] {
  const unprefixed = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const decoded = fromBase64(unprefixed);
  return [
    { kind: 'shown', bytes: toBytes(secret) },
    ...(decoded ? [{ kind: 'decoded' as const, bytes: decoded }] : []),
    { kind: 'unprefixed', bytes: toBytes(unprefixed) },
    { kind: 'padded', bytes: toBytes(`${secret}\n`) },
  ];
}

/** The bodies that people sign instead of the one that was sent, which comes first. */
function bodiesOf(body: string): Variant<BodyKind>[] {
  const texts: [BodyKind, string | undefined][] = [
    ['pasted', body],
    ['newline_removed', body.replace(/\r?\n$/, '')],
    ['newline_added', `${body}\n`],
    ['trimmed', body.trim()],
    ['crlf', body.replaceAll(/\r?\n/g, '\r\n')],
    ['minified', reformat(body)],
    ['indented', reformat(body, 2)],
  ];
  const seen = new Set<string>();
  return texts.flatMap(([kind, text]) => {
    if (text === undefined || seen.has(text)) return [];
    seen.add(text);
    return [{ kind, bytes: toBytes(text) }];
  });
}

function reformat(body: string, indentation?: number): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body), null, indentation);
  } catch {
    return undefined;
  }
}

/** Reads pasted headers: `name: value` by line, as curl's `-H`, as JSON, or as a program prints them. Names come in lower case. */
export function readHeaders(text: string): ReadonlyMap<string, string> {
  const lines = readJson(text) ?? new Map(text.split('\n').flatMap((line) => readLine(line)));
  return isSigned(lines) ? lines : new Map([...lines, ...readPairs(text)]);
}

const isSigned = (headers: ReadonlyMap<string, string>): boolean =>
  headers.has('x-service-signature') || headers.has('webhook-signature');

function readJson(text: string): Map<string, string> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    return new Map(Object.entries(parsed).map(([name, value]) => [toName(name), String(value)]));
  } catch {
    return undefined;
  }
}

/** An argument of curl is quoted as a whole, a line of a log by name and value. */
const CURL = /^(?:-H|--header)\s+(['"])(.*)\1\s*\\?$/;
const LINE = /^(['"]?)([\w-]+)\1\s*:\s*(.*)$/;
const QUOTED = /^(['"])(.*)\1,?$/;

function readLine(line: string): [string, string][] {
  const text = line.trim();
  const [, , name, value] = LINE.exec(CURL.exec(text)?.[2] ?? text) ?? [];
  return name === undefined || value === undefined ? [] : [[toName(name), value.replace(QUOTED, '$2')]];
}

/** A dict or the environ of Python, its tuples of bytes, a hash of Ruby, or the rawHeaders of Node. */
const PAIR = /(?:\bb)?(['"])([\w-]+)\1\s*(?::|,|=>)\s*b?(['"])(.*?)\3/g;

function readPairs(text: string): [string, string][] {
  return [...text.matchAll(PAIR)].map(([, , name = '', , value = '']) => [toName(name), value]);
}

/** WSGI, CGI and Rack write HTTP_X_SERVICE_SIGNATURE. */
function toName(name: string): string {
  const lower = name.toLowerCase();
  return /^(?:http|content)_/.test(lower) ? lower.replace(/^http_/, '').replaceAll('_', '-') : lower;
}

/** A body as it was pasted. Bytes as Python prints them are read: `b'{"id":…}'`. */
export function readBody(text: string): string {
  const [, , printed] = /^\s*b(['"])(.*)\1\s*$/s.exec(text) ?? [];
  if (printed === undefined) return text;
  const bytes = printed.replaceAll(/\\(x[0-9a-f]{2}|.)/g, (_whole, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : (ESCAPES[escaped] ?? escaped),
  );
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const ENCODER = new TextEncoder();

export const toBytes = (text: string): Uint8Array<ArrayBuffer> => ENCODER.encode(text);

/** The bytes of base64; undefined for any other text. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** HMAC-SHA256. An empty key signs nothing. */
export async function hmac(key: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (key.length === 0) return new Uint8Array();
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data));
}

/** SHA-256. */
async function digest(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', data));
}

export const toHex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
