import { z } from 'zod';

const LIMIT = 10;
const LIMIT_BYTES = 4_096;
const SHOWN_CHARACTERS = 64;

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII, spaces and tabs: what every program on the way reads alike (RFC 9110, 5.5). */
const PLAIN = /^[\t\x20-\x7e]*$/;

type Reserved = { readonly why: string; readonly names: readonly string[]; readonly prefixes: readonly string[] };

/** Names that nobody may set, in lower case. */
const RESERVED: readonly Reserved[] = [
  {
    why: 'it is one of those that Herald sends itself',
    names: ['user-agent', 'traceparent', 'tracestate'],
    prefixes: ['x-service-', 'webhook-'],
  },
  {
    why: 'it would change how the body is read',
    names: ['transfer-encoding', 'trailer', 'mime-version'],
    prefixes: ['content-'],
  },
  {
    why: 'it belongs to the connection',
    names: ['host', 'connection', 'close', 'keep-alive', 'te', 'upgrade', 'http2-settings', 'alt-used'],
    prefixes: ['proxy-'],
  },
  {
    // Methods, conditions and parts (RFC 9110, 10.1, 13 and 14.2), and answers that Herald would have to decode.
    why: 'it would change what the request asks for',
    names: [
      ...['expect', 'max-forwards', 'range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
      ...['if-range', 'accept-encoding', 'early-data'],
      ...['x-http-method', 'x-http-method-override', 'x-method-override'],
    ],
    prefixes: [],
  },
  {
    why: 'only a proxy may tell where a request comes from',
    names: ['via', 'forwarded', 'x-real-ip'],
    prefixes: ['x-forwarded-'],
  },
];

/** Why a header of this name can't be set, or undefined. */
function judgeName(name: string): string | undefined {
  const lower = name.toLowerCase();
  const reserved = RESERVED.find(
    ({ names, prefixes }) => names.includes(lower) || prefixes.some((prefix) => lower.startsWith(prefix)),
  );
  return reserved && `must not be given: ${reserved.why}`;
}

function judgeValue(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (!PLAIN.test(value)) return 'must have only visible ASCII characters, spaces and tabs';
  return value.trim() === value ? undefined : 'must not begin or end with a space or tab';
}

type Problem = { readonly path: string[]; readonly message: string };

function* findProblems(headers: Readonly<Record<string, string>>): Generator<Problem> {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) {
      const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS));
      yield { path: [], message: `must have names of letters, digits and !#$%&'*+-.^_\`|~ only; ${shown} is none` };
      continue;
    }
    const known = names.get(name.toLowerCase());
    names.set(name.toLowerCase(), name);
    const problem = known === undefined ? undefined : `must be given once; ${known} is the same header`;
    const message = problem ?? judgeName(name) ?? judgeValue(value);
    if (message !== undefined) yield { path: [name], message };
  }
}

/** The first rule that all of them break together; otherwise what is wrong with each. */
function judgeHeaders(headers: Readonly<Record<string, string>>): readonly Problem[] {
  const entries = Object.entries(headers);
  if (entries.length > LIMIT) return [{ path: [], message: `must have at most ${LIMIT} headers` }];
  const bytes = entries.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > LIMIT_BYTES) {
    return [{ path: [], message: `must have at most ${LIMIT_BYTES} bytes, names and values together` }];
  }
  return [...findProblems(headers)];
}

/** Headers that an endpoint gets with every delivery, besides Herald's; names in lower case. Their values are secret. */
export const OwnHeaders = z
  .record(z.string(), z.string(), { error: 'must be an object with the name and the value of each header' })
  .superRefine((headers, context) => {
    // A sentence never has a value: it may be a credential.
    for (const { path, message } of judgeHeaders(headers)) context.addIssue({ code: 'custom', path, message });
  })
  .transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )
  .meta({
    description: `Headers of your own, sent with every delivery: at most ${LIMIT}, of ${LIMIT_BYTES} bytes together. Values are visible ASCII, kept encrypted, and never shown again. None of those that Herald sends (\`x-service-…\`, \`webhook-…\`, \`user-agent\`, \`traceparent\`), none that changes the request or its connection (\`host\`, \`content-…\`, \`accept-encoding\`, …) or tells of proxies (\`x-forwarded-…\`).`,
    maxProperties: LIMIT,
    examples: [{ authorization: 'Bearer 7c1f0b…' }],
  });
export type OwnHeaders = z.infer<typeof OwnHeaders>;
