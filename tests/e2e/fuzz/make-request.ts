import { document, resolve, type OperationObject } from '../../support/openapi-document.ts';
import { HOSTILE_TEXTS, hostileText } from './hostile-values.ts';
import type { Random } from './random.ts';
import { spoil, spoilText } from './spoil.ts';
import { valueOf, type KnownValues } from './value-of-schema.ts';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** What requests are made with. */
export interface Material {
  /** By scope. */
  keys: Readonly<Record<string, string>>;
  /** The Authorization header of an operator. */
  operator: string;
  /** Ids that lead somewhere, by the prefix of their kind, such as `task_`. */
  ids: ReadonlyMap<string, readonly string[]>;
  /** Urls that a worker may call. */
  urls: readonly string[];
}

interface Target {
  method: string;
  path: string;
  operation: OperationObject;
}

const targets: readonly Target[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH'];
const CONTENT_TYPES = [
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json5',
    '',
    'x',
  ],
  ...[
    'application/json; charset=utf-16',
    'application/json; charset=nope',
    'application/problem+json',
    'APPLICATION/JSON',
  ],
];
const ODD_HEADERS = {
  'content-encoding': ['gzip', 'br', 'identity', 'nope', 'gzip, gzip'],
  'idempotency-key': ['"', '', 'a b', 'x'.repeat(256), '"\\"', 'é'],
  'x-request-id': ['x'.repeat(65), '<script>', '../..', '{"a":1}'],
  'x-forwarded-for': ['unknown', '::1', '1.2.3.4, 5.6.7.8', '[::1]:80', ',,,,', 'x'.repeat(500)],
  accept: ['text/html', 'application/xml', '*/*;q=0'],
  expect: ['100-continue'],
  'x-http-method-override': ['DELETE'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'ff-', 'x'.repeat(300)],
  range: ['bytes=0-0', 'bytes=-'],
  'if-none-match': ['*'],
  cookie: ['a=b; __proto__=x'],
  origin: ['https://evil.example', 'null'],
} as const;

/** One request from the document: as it should be, nearly so, or not at all. */
export function makeRequest(random: Random, material: Material): FuzzRequest {
  const target = random.pick(targets) ?? targets[0];
  if (!target) throw new Error('the document has operations');
  const { operation } = target;
  const [security] = operation.security ?? [];
  const scope = security?.operator ? 'operator' : (security?.apiKey?.[0] ?? 'webhooks');
  const method = random.chance(0.04) ? (random.pick(METHODS) ?? 'GET') : target.method;
  const body = makeBody(operation, random, material);
  const canCarryBody = method !== 'HEAD' && method !== 'TRACE';
  const path = makePath(target, random, material) + makeQuery(operation, random, material);
  return {
    // Of a request that is too large to be read nobody knows that it is a HEAD, and its problem has a body.
    method: method === 'HEAD' && path.length > 8_000 ? 'GET' : method,
    path,
    headers: makeHeaders(scope, body !== undefined, random, material),
    ...(body !== undefined && canCarryBody && { body }),
  };
}

function makePath({ path }: Target, random: Random, material: Material): string {
  if (random.chance(0.03)) {
    const odd = [
      '//',
      '/tasks//',
      '/tasks/%',
      '/tasks/%E0%A4%A',
      '/TASKS',
      `/${'a/'.repeat(500)}`,
      '/tasks/%2f..',
      '/.%00',
    ];
    return random.pick(odd) ?? '/';
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeId(makeId(path, name, random, material)),
  );
  return random.chance(0.02) ? filled + random.pick(['/', '//', '/x', '%20', ';a=b', '.json']) : filled;
}

/** Lone surrogates can't be encoded; whoever sends them sends their bytes. */
function encodeId(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}

function makeId(path: string, name: string, random: Random, { ids }: Material): string {
  if (random.chance(0.08)) return hostileText(random).slice(0, 300);
  if (name === 'approvalId') return random.pick(['pay', 'notify', 'x']);
  const prefix = path.includes('/webhooks/')
    ? 'wh_'
    : path.includes('/deliveries/')
      ? 'dlv_'
      : path.includes('/replays/')
        ? 'rpl_'
        : 'task_';
  const right = ids.get(prefix) ?? [];
  if (right.length > 0 && random.chance(0.85)) return random.pick(right) ?? '';
  return random.pick([...ids.values()].flat()) ?? 'x';
}

function makeQuery(operation: OperationObject, random: Random, material: Material): string {
  const pairs = (operation.parameters ?? []).flatMap((parameter) => {
    const { item } = resolve(parameter, '');
    if (item.in !== 'query' || (item.required !== true && random.chance(0.5))) return [];
    const value = random.chance(0.15)
      ? hostileText(random)
      : String(valueOf(item.schema, random, knownValues(material)));
    return [[item.name, value] as const, ...(random.chance(0.03) ? [[item.name, 'twice'] as const] : [])];
  });
  if (random.chance(0.03)) pairs.push([random.pick(HOSTILE_TEXTS), hostileText(random)]);
  if (random.chance(0.01))
    return `?${random.pick(['%', '%E0%A4%A', '&&&', '=', '[a]=b', 'a[b][c]=d', '__proto__[x]=1'])}`;
  if (pairs.length === 0) return '';
  return `?${pairs.map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join('=')).join('&')}`;
}

function makeHeaders(
  scope: string,
  hasBody: boolean,
  random: Random,
  { keys, operator }: Material,
): Record<string, string> {
  const headers: Record<string, string> = {
    'x-forwarded-for': `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`,
  };
  if (hasBody) {
    headers['content-type'] = random.chance(0.05) ? (random.pick(CONTENT_TYPES) ?? '') : 'application/json';
  }
  if (scope === 'operator' && random.chance(0.9)) {
    headers.authorization = operator;
    headers['sec-fetch-site'] = 'same-origin';
  } else if (random.chance(0.9)) headers.authorization = `Bearer ${keys[scope] ?? ''}`;
  else if (random.chance(0.7)) {
    const odd = [
      '',
      'Bearer',
      'Bearer ',
      'Basic eDp5',
      `Bearer ${'x'.repeat(2_000)}`,
      'Bearer hrld_x',
      'bearer\thrld_',
    ];
    headers.authorization = random.pick([...odd, ...Object.values(keys).map((key) => `Bearer ${key}`)]) ?? '';
  }
  if (random.chance(0.1)) headers['idempotency-key'] = `key-${random.below(50)}`;
  if (random.chance(0.05)) {
    const [name, values] = random.pick(Object.entries(ODD_HEADERS)) ?? ['accept', ['*/*']];
    headers[name] = random.pick([...values, '']);
  }
  return headers;
}

function makeBody(operation: OperationObject, random: Random, material: Material): string | Buffer | undefined {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (!schema) return random.chance(0.03) ? random.pick(['{}', 'null', '[', 'x'.repeat(1_000)]) : undefined;
  if (random.chance(0.03)) return undefined;
  if (random.chance(0.002)) return JSON.stringify({ text: 'x'.repeat(random.pick([262_100, 262_145, 4_194_305])) });
  const valid = valueOf(schema, random, knownValues(material));
  const kind = random.next();
  // A hostile name may make an object that JSON.stringify leaves out.
  if (kind < 0.6) return JSON.stringify(valid);
  const spoilt = JSON.stringify(spoil(random.chance(0.3) ? spoil(valid, random) : valid, random)) as string | undefined;
  return kind < 0.9 ? (spoilt ?? 'null') : spoilText(spoilt ?? 'null', random);
}

function knownValues({ ids, urls }: Material): KnownValues {
  const tasks = ids.get('task_') ?? [];
  return {
    EndpointUrl: (random) => (random.chance(0.8) ? random.pick(urls) : hostileText(random)),
    taskId: (random) => random.pick([...tasks, 'task_x']),
  };
}
