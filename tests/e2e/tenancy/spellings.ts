import type { RawRequest } from '../../support/send-raw-requests.ts';

/** A request as the document has it. */
export interface PlainRequest {
  method: string;
  path: string;
  /** With its question mark; empty without one. */
  query: string;
  /** JSON. */
  body?: string;
}

export interface Spelling {
  /** The same for the same trick, wherever in the path it is used. */
  kind: string;
  request: RawRequest;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT'];
const ODD_METHODS = ['PROPFIND', 'SEARCH', 'QUERY', 'LINK', 'PURGE', 'MOVE', 'SOURCE', 'M-SEARCH', 'POSTX', 'G'];

/** The request as the document has it. */
export function spellPlainly({ method, path, query, body }: PlainRequest): RawRequest {
  return { method, target: path + query, headers: JSON_TYPE, ...(body !== undefined && { body }) };
}

/** All spellings of a request that we know. Most are no request for it; some are, and must be judged as it is. */
export function spellingsOf(plain: PlainRequest): Spelling[] {
  const request = spellPlainly(plain);
  const ofPath = pathsOf(plain.path).map(([kind, path]) => ({
    kind,
    request: { ...request, target: path + (path.includes('?') ? '' : plain.query) },
  }));
  const tricks = [...queriesOf(plain, request), ...methodsOf(plain, request), ...headersOf(plain, request)];
  return [{ kind: 'as documented', request }, ...ofPath, ...tricks, ...contentTypesOf(request)];
}

type Named = readonly [kind: string, path: string];

function pathsOf(path: string): Named[] {
  const segments = path.split('/').slice(1);
  /** The path with something else in the place of one slash, at each in turn. */
  const atEach = (kind: string, slash: string): Named[] =>
    segments.map((_segment, at) => [kind, segments.map((each, index) => (index === at ? slash : '/') + each).join('')]);
  /** The path with another form of one segment, at each in turn. */
  const ofEach = (kind: string, change: (segment: string) => string): Named[] =>
    segments.map((_segment, at) => [
      kind,
      `/${segments.map((each, index) => (index === at ? change(each) : each)).join('/')}`,
    ]);
  const last = segments.at(-1) ?? '';
  return [
    ...atEach('a doubled slash', '//'),
    ['doubled slashes everywhere', path.replaceAll('/', '//')],
    ['a tripled slash at the start', `//${path}`],
    ['a slash at the end', `${path}/`],
    ['two slashes at the end', `${path}//`],
    ['three slashes at the end', `${path}///`],
    ['many slashes at the end', path + '/'.repeat(50)],
    ...atEach('an encoded slash', '%2f'),
    ['encoded slashes everywhere, in capitals', `/${path.slice(1).replaceAll('/', '%2F')}`],
    ['an encoded slash at the end', `${path}%2f`],
    ['a slash and an encoded one at the end', `${path}/%2F`],
    ['an encoded slash after the first', `/%2f${path.slice(1)}`],
    ['a slash that is encoded twice', path.replaceAll('/', '%252f')],
    ['an overlong slash', `${path}%c0%af`],
    ...atEach('a dot', '/./'),
    ...atEach('two dots', '/x/../'),
    ...atEach('encoded dots', '/x/%2e%2e/'),
    ['a dot at the end', `${path}/.`],
    ['two dots at the end', `${path}/..`],
    ['two dots, and the last again', `${path}/../${last}`],
    ['an encoded dot at the end', `${path}/%2e`],
    ['a dot behind the last', `${path}.`],
    ['an extension', `${path}.json`],
    ['from the pages', `/console/..${path}`],
    ['from the files of the pages', `/console/assets/..%2f..${path}`],
    ['from the documents', `/docs/..${path}`],
    ['from what is open', `/healthz/..${path}`],
    ['from the operators', `/admin/queues/../..${path}`],
    ['from the executors', `/api/internal/../..${path}`],
    ['from another part of the API', `/api/public/access/../../..${path}`],
    ...ofEach('capitals', (segment) => segment.toUpperCase()),
    ['capitals everywhere', path.toUpperCase()],
    ['absolute', `http://herald.example.com${path}`],
    ['absolute, of another host', `http://evil.example${path}`],
    ['absolute, in capitals', `HTTPS://HERALD${path}`],
    ['absolute, with a doubled slash', `http://herald.example.com/${path}`],
    ['absolute, with two slashes at the end', `http://herald.example.com${path}//`],
    ['absolute, with a user', `http://a:b@herald.example.com${path}`],
    ['absolute, with backslashes', `http://herald.example.com${path.replaceAll('/', '\\')}`],
    ['absolute, with a backslash before the path', `http://herald.example.com\\${path}`],
    ['absolute, with a path before a backslash', `http://herald.example.com/x\\..${path}`],
    ['absolute, without a host', `http://${path}`],
    ['absolute, without a host, of another scheme', `x://${path}`],
    ['absolute, without a path', 'http://herald.example.com'],
    ['absolute, with nothing', 'http://'],
    ['absolute, with a query alone', `http://?${path}`],
    ['absolute, with one slash', `http:${path}`],
    ['a scheme without a name', `://x${path}`],
    ['a host without a scheme', `//herald.example.com${path}`],
    ['no slash at the start', path.slice(1)],
    ['a star', '*'],
    ...atEach('a backslash', '\\'),
    ['backslashes everywhere', path.replaceAll('/', '\\')],
    ['a backslash at the end', `${path}\\`],
    ['a backslash and a fragment', `${path.replace(/\/(?=[^/]*$)/, '\\')}#`],
    ['backslashes and a fragment', `/${path.slice(1).replaceAll('/', '\\')}#`],
    ['a slash, a backslash and a fragment', `${path}/\\#`],
    ['an encoded backslash', `${path}%5c`],
    ...ofEach('a matrix parameter', (segment) => `${segment};x=1`),
    ['an empty matrix parameter', `${path};`],
    ['an encoded NUL', `${path}%00`],
    ['an encoded line feed', `${path}%0a`],
    ['an encoded end of line', `${path}%0d%0ax:%20y`],
    ['an encoded space', `${path}%20`],
    ['an encoded space at the start', `/%20${path.slice(1)}`],
    ['a plus', `${path}+`],
    ['a NUL', `${path}\0`],
    ['a space', `${path} x`],
    ['a tab', `${path}\tx`],
    ['a no-break space', `${path}\u00a0`],
    ['a byte order mark', `\ufeff${path}`],
    [
      'a full-width letter',
      path.replace(/[a-z](?=[^a-z]|$)/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
    ],
    ['a Kelvin sign', path.replaceAll('k', '\u212a')],
    ['a long s', path.replaceAll('s', '\u017f')],
    ['a dotless i', path.replaceAll('i', '\u0131')],
    ['an encoded long s', path.replaceAll('s', '%c5%bf')],
    ['a fraction slash', path.replaceAll('/', '\u2044')],
    ['a division slash at the end', `${path}\u2215`],
    ['a combining accent', `${path}\u0301`],
    ['a zero-width space', `${path}\u200b`],
    ...ofEach('an encoded letter', (segment) => segment.replace(/^[a-z]/, (letter) => percentOf(letter))),
    ['encoded letters everywhere', path.replaceAll(/[a-z]/g, (letter) => percentOf(letter))],
    ['a letter that is encoded twice', `/%25${percentOf(path.charAt(1)).slice(1)}${path.slice(2)}`],
    ['half an escape', `${path}%`],
    ['an escape of nothing', `${path}%zz`],
    ['an escape that is no UTF-8', `${path}%ff`],
    ['the path twice', path + path],
    ['something behind', `${path}/x`],
    ['__proto__ behind', `${path}/__proto__`],
    ['a colon behind', `${path}:x`],
  ];
}

function percentOf(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

function queriesOf({ method, path, query, body }: PlainRequest, request: RawRequest): Spelling[] {
  const of = (kind: string, target: string): Spelling => ({ kind, request: { ...request, target } });
  const more = query === '' ? '?' : `${query}&`;
  return [
    of('an empty query', `${path}?`),
    of('two question marks', `${path}??x=1`),
    of('a fragment', `${path}#x`),
    of('an encoded question mark', `${path}%3f${query.slice(1)}`),
    of('a slash before the query', `${path}/${query}`),
    of('two slashes before the query', `${path}//${query}`),
    of('a doubled slash in the query', `${path}${more}x=//`),
    of('a path in the query', `/healthz?${path}`),
    of('the method in the query', `${path}${more}_method=${method}`),
    ...['GET', 'POST'].map((sent) => ({
      kind: `the method in the query of a ${sent}`,
      request: { ...request, method: sent, target: `${path}${more}_method=${method}` },
    })),
    of('the key in the query', `${path}${more}access_token=x&api_key=x`),
    {
      kind: 'the method in the body of a POST',
      request: {
        ...request,
        method: 'POST',
        body: JSON.stringify({ ...(JSON.parse(body ?? '{}') as object), _method: method }),
      },
    },
  ];
}

function methodsOf({ method, path, query }: PlainRequest, request: RawRequest): Spelling[] {
  const mixed = method.charAt(0) + method.slice(1).toLowerCase();
  return [
    ...[...METHODS, ...ODD_METHODS].map((each) => ({
      kind: `the method ${each}`,
      request: { ...request, method: each },
    })),
    { kind: 'the method in small letters', request: { ...request, method: method.toLowerCase() } },
    { kind: 'the method in mixed letters', request: { ...request, method: mixed } },
    { kind: 'HEAD, and two slashes at the end', request: { ...request, method: 'HEAD', target: `${path}//${query}` } },
    { kind: 'OPTIONS, and two slashes at the end', request: { ...request, method: 'OPTIONS', target: `${path}//` } },
    { kind: 'OPTIONS of everything', request: { ...request, method: 'OPTIONS', target: '*' } },
  ];
}

/** Headers by which some servers let a caller change what was asked. */
function headersOf({ method, path, query }: PlainRequest, request: RawRequest): Spelling[] {
  const with_ = (kind: string, change: Partial<RawRequest>, headers: Readonly<Record<string, string>>): Spelling => ({
    kind,
    request: { ...request, ...change, headers: { ...request.headers, ...headers } },
  });
  const overrides = {
    'x-http-method-override': method,
    'x-http-method': method,
    'x-method-override': method,
    'x-original-method': method,
  };
  const rewrites = {
    'x-original-url': path + query,
    'x-rewrite-url': path + query,
    'x-forwarded-uri': path,
    'x-forwarded-path': path,
    'x-original-uri': path,
    'request-uri': path,
  };
  const elsewhere = ['/', '/healthz', '/api/public/access', '/api/public/activity', '/tasks', '/api/operator/overview'];
  return [
    ...['GET', 'POST', 'HEAD'].map((sent) =>
      with_(`another method in headers of a ${sent}`, { method: sent }, overrides),
    ),
    ...elsewhere.map((target) => with_(`another path in headers of ${target}`, { method: 'GET', target }, rewrites)),
    ...elsewhere.map((target) =>
      with_(
        `another path and method in headers of ${target}`,
        { method: 'POST', target },
        { ...rewrites, ...overrides },
      ),
    ),
    with_('a prefix in a header', {}, { 'x-forwarded-prefix': '/x', 'x-script-name': '/x' }),
    with_('another host in a header', {}, { 'x-forwarded-host': 'localhost', 'x-forwarded-proto': 'https' }),
    with_(
      'another address in headers',
      {},
      { 'x-real-ip': '127.0.0.1', 'true-client-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' },
    ),
    with_('a key in a cookie', {}, { cookie: 'authorization=Bearer%20x; token=x', 'x-api-key': 'x' }),
    with_('a condition', {}, { 'if-none-match': '*', 'if-match': 'x', range: 'bytes=0-0' }),
    with_('a repeatable request', {}, { 'idempotency-key': '"spelled-otherwise"' }),
    with_('an upgrade', {}, { connection: 'upgrade', upgrade: 'h2c', 'http2-settings': 'AAA' }),
  ];
}

/** With a body, whatever the operation wants. */
function contentTypesOf(request: RawRequest): Spelling[] {
  const json = request.body ?? '{}';
  const chunk = `${Buffer.byteLength(json).toString(16)}\r\n${json}\r\n0\r\n\r\n`;
  const of = (kind: string, type: string | undefined, body: string): Spelling => {
    const { 'content-type': _json, ...headers } = request.headers;
    return {
      kind,
      request: { ...request, headers: { ...headers, ...(type !== undefined && { 'content-type': type }) }, body },
    };
  };
  return [
    of('JSON in capitals', 'APPLICATION/JSON', json),
    of('JSON with a charset', 'application/json; charset=utf-8', json),
    of('JSON with another charset', 'application/json; charset=utf-16', json),
    of('a patch', 'application/merge-patch+json', json),
    of('JSON as text', 'text/plain', json),
    of('JSON of no type', undefined, json),
    of('JSON of an empty type', '', json),
    of('two types', 'application/json, text/plain', json),
    of('a form', 'application/x-www-form-urlencoded', `_method=${request.method}&url=https%3A%2F%2Fhooks.example.com`),
    of(
      'a form of many parts',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="url"\r\n\r\nx\r\n--x--',
    ),
    of('no body', 'application/json', ''),
    of('an empty object', 'application/json', '{}'),
    {
      kind: 'JSON in chunks',
      request: { ...request, headers: { ...request.headers, 'transfer-encoding': 'chunked' }, body: chunk },
    },
    {
      kind: 'JSON that is announced',
      request: { ...request, headers: { ...request.headers, expect: '100-continue' }, body: json },
    },
  ];
}
