import { OwnHeaders } from './own-headers.ts';

/** Of what is refused, to see that no sentence has it. */
const VALUE = 'canary-7c1f';

function problemsOf(headers: unknown): string[] {
  const issues = OwnHeaders.safeParse(headers).error?.issues ?? [];
  return issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, VALUE] as const));

test.each<{ headers: Record<string, string>; kept: Record<string, string> }>([
  { headers: {}, kept: {} },
  { headers: { Authorization: 'Bearer a b' }, kept: { authorization: 'Bearer a b' } },
  { headers: { 'X-Api-KEY': '!~' }, kept: { 'x-api-key': '!~' } },
  { headers: { 'x-tabbed': 'a\tb' }, kept: { 'x-tabbed': 'a\tb' } },
  { headers: { "!#$%&'*+-.^_`|~9": '1' }, kept: { "!#$%&'*+-.^_`|~9": '1' } },
  { headers: { cookie: 'a=1', accept: '*/*', date: 'x' }, kept: { cookie: 'a=1', accept: '*/*', date: 'x' } },
  {
    headers: { 'x-servicex': '1', webhook: '1', content: '1' },
    kept: { 'x-servicex': '1', webhook: '1', content: '1' },
  },
  { headers: { constructor: '1', tostring: '2' }, kept: { constructor: '1', tostring: '2' } },
  { headers: many(10), kept: many(10) },
  { headers: { a: 'x'.repeat(4_095) }, kept: { a: 'x'.repeat(4_095) } },
  { headers: { a: 'x'.repeat(2_047), b: 'x'.repeat(2_047) }, kept: { a: 'x'.repeat(2_047), b: 'x'.repeat(2_047) } },
])('$headers is accepted, its names in lower case', ({ headers, kept }) => {
  expect(OwnHeaders.parse(headers)).toStrictEqual(kept);
});

const SENT = 'must not be given: it is one of those that Herald sends itself';
const BODY = 'must not be given: it would change how the body is read';
const CONNECTION = 'must not be given: it belongs to the connection';
const REQUEST = 'must not be given: it would change what the request asks for';
const PROXY = 'must not be given: only a proxy may tell where a request comes from';
const UNNAMED = "must have names of letters, digits and !#$%&'*+-.^_`|~ only;";
const ASCII = 'must have only visible ASCII characters, spaces and tabs';
const BLANK = 'must not begin or end with a space or tab';

test.each<[name: string, problem: string]>([
  ...[
    ...['x-service-event', 'X-Service-Signature', 'x-service-', 'x-service-tenant', 'webhook-id', 'Webhook-Signature'],
    ...['webhook-', 'webhook-tenant', 'User-Agent', 'traceparent', 'tracestate'],
  ].map((name): [string, string] => [name, SENT]),
  ...[
    ...['content-type', 'Content-Length', 'CONTENT-ENCODING', 'content-', 'content-digest', 'transfer-encoding'],
    ...['trailer', 'MIME-Version'],
  ].map((name): [string, string] => [name, BODY]),
  ...[
    ...['host', 'Host', 'connection', 'close', 'keep-alive', 'te', 'upgrade', 'HTTP2-Settings', 'alt-used'],
    ...['proxy-authorization', 'Proxy-Connection', 'proxy-authenticate'],
  ].map((name): [string, string] => [name, CONNECTION]),
  ...[
    ...['expect', 'max-forwards', 'range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
    ...['if-range', 'accept-encoding', 'Early-Data', 'x-http-method', 'X-HTTP-Method-Override', 'x-method-override'],
  ].map((name): [string, string] => [name, REQUEST]),
  ...['via', 'Forwarded', 'X-Real-IP', 'x-forwarded-for', 'X-Forwarded-Host', 'x-forwarded-'].map(
    (name): [string, string] => [name, PROXY],
  ),
])('the header %s %s', (name, problem) => {
  expect(problemsOf({ [name]: VALUE })).toEqual([`${name} ${problem}`]);
});

test.each(['', ' ', 'x y', 'x:', 'x\r\nhost', 'x\0', 'ü', 'x-é', '(x)', 'x/y', 'x@y', 'a,b', 'x"', '{', 'x\t', '：'])(
  '%j is no name',
  (name) => {
    expect(problemsOf({ [name]: VALUE })).toEqual([`${UNNAMED} ${JSON.stringify(name)} is none`]);
  },
);

test.each<[value: unknown, problem: string]>([
  ['', 'must not be empty'],
  [' ', BLANK],
  [` ${VALUE}`, BLANK],
  [`${VALUE} `, BLANK],
  [`\t${VALUE}`, BLANK],
  [`${VALUE}\t`, BLANK],
  [`${VALUE}\n`, ASCII],
  [`${VALUE}\r\nhost: evil`, ASCII],
  [`a\0${VALUE}`, ASCII],
  [`a\u007f${VALUE}`, ASCII],
  [`a\u001b[1m${VALUE}`, ASCII],
  [`${VALUE}é`, ASCII],
  [`${VALUE}\u00a0`, ASCII],
  [`${VALUE}\u200b`, ASCII],
  [`${VALUE}\ud800`, ASCII],
  [5, 'Invalid input: expected string, received number'],
  [null, 'Invalid input: expected string, received null'],
  [[VALUE], 'Invalid input: expected string, received array'],
  [{ value: VALUE }, 'Invalid input: expected string, received object'],
])('the value %j is refused: %s', (value, problem) => {
  expect(problemsOf({ authorization: value })).toEqual([`authorization ${problem}`]);
});

const OBJECT = 'must be an object with the name and the value of each header';

test.each<[headers: unknown, problem: string]>([
  [null, OBJECT],
  [`authorization: ${VALUE}`, OBJECT],
  [[['authorization', VALUE]], OBJECT],
  [[{ name: 'authorization', value: VALUE }], OBJECT],
  [7, OBJECT],
  [many(11), 'must have at most 10 headers'],
  [many(5_000), 'must have at most 10 headers'],
  [{ a: `${VALUE}${'x'.repeat(4_085)}` }, 'must have at most 4096 bytes, names and values together'],
  [{ ['x'.repeat(4_096)]: VALUE }, 'must have at most 4096 bytes, names and values together'],
  [{ a: 'ü'.repeat(2_048) }, 'must have at most 4096 bytes, names and values together'],
  [{ 'x-a': VALUE, 'X-A': VALUE }, 'X-A must be given once; x-a is the same header'],
])('%j together is refused: %s', (headers, problem) => {
  expect(problemsOf(headers)).toEqual([problem]);
});

test('each header that breaks a rule has its sentence, and none has a value', () => {
  const headers = { ok: VALUE, Host: VALUE, 'b ad': VALUE, a: `${VALUE}\n`, A: VALUE, [`${'y'.repeat(70)}:`]: VALUE };
  const problems = problemsOf(headers);
  expect(problems).toEqual([
    `Host ${CONNECTION}`,
    `${UNNAMED} "b ad" is none`,
    `a ${ASCII}`,
    'A must be given once; a is the same header',
    `${UNNAMED} "${'y'.repeat(64)}" is none`,
  ]);
  expect(problems.join()).not.toContain(VALUE);
});
