import { findPortClash, FrameAncestors, readApiConfig } from './api-config.ts';

const ENV = {
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
};

test.each([
  ['https://herald.example.com', 'https://herald.example.com'],
  ['https://example.com/hooks/', 'https://example.com/hooks'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['', undefined],
])('PUBLIC_URL=%s', (PUBLIC_URL, publicUrl) => {
  expect(readApiConfig({ ...ENV, PUBLIC_URL }).publicUrl).toBe(publicUrl);
});

test.each([
  'herald.example.com',
  'ftp://example.com',
  'https://example.com/?a=1',
  'https://example.com/#a',
  'https://user:word@example.com',
])('PUBLIC_URL=%s is refused', (PUBLIC_URL) => {
  expect(() => readApiConfig({ ...ENV, PUBLIC_URL })).toThrow('PUBLIC_URL must be a url such as');
});

const problemsOf = (env: NodeJS.ProcessEnv) => {
  try {
    readApiConfig({ ...ENV, ...env });
    return [];
  } catch (error) {
    return (error as { problems?: readonly string[] }).problems;
  }
};

test('the operators have a port of their own only if one is set, at the address of the rest unless it says otherwise', () => {
  expect(readApiConfig(ENV).operatorListener).toBeUndefined();
  const listenerOf = (env: NodeJS.ProcessEnv) =>
    readApiConfig({ ...ENV, OPERATOR_PORT: '8082', ...env }).operatorListener;
  expect(listenerOf({ HOST: '0.0.0.0' })).toEqual({ host: '0.0.0.0', port: 8082 });
  expect(listenerOf({ HOST: '0.0.0.0', OPERATOR_HOST: '127.0.0.1' })).toEqual({ host: '127.0.0.1', port: 8082 });
});

test.each([
  ['the port of the customers', { OPERATOR_PORT: '8080' }, 'OPERATOR_PORT must be another port than PORT'],
  ['that port on all addresses', { OPERATOR_PORT: '8080', OPERATOR_HOST: '::' }, 'OPERATOR_PORT must be another port'],
  ['an address without a port', { OPERATOR_HOST: '127.0.0.1' }, 'OPERATOR_PORT must be set, since OPERATOR_HOST is'],
  ['a short token', { METRICS_TOKEN: 'fifteen-letters' }, 'METRICS_TOKEN must have at least 16 characters'],
  ['a token of one letter', { METRICS_TOKEN: 'a'.repeat(40) }, 'METRICS_TOKEN must have at least 16 characters, 5 of'],
  ['a token with a space', { METRICS_TOKEN: 'a token with some spaces' }, 'METRICS_TOKEN must be of visible ASCII'],
  [
    'the password as token',
    { METRICS_TOKEN: 'correct-horse-battery', OPERATOR_USER: 'olga', OPERATOR_PASSWORD: 'correct-horse-battery' },
    'METRICS_TOKEN must not be the same as OPERATOR_PASSWORD',
  ],
])('%s is refused', (_what, env, sentence) => {
  expect(problemsOf(env)).toEqual([expect.stringContaining(sentence)]);
});

test('two addresses of one machine may have one port, and the system may choose both', () => {
  expect(problemsOf({ OPERATOR_PORT: '8080', OPERATOR_HOST: '127.0.0.2' })).toEqual([]);
  expect(problemsOf({ PORT: '0', OPERATOR_PORT: '0' })).toEqual([]);
});

const api = { host: '127.0.0.1', port: 8080 };

test.each([
  ['the same port and address', api],
  ['the same port on all addresses', { host: '0.0.0.0', port: 8080 }],
  ['the same port on all addresses, IPv6 too', { host: '::', port: 8080 }],
])('%s is a problem of WORKER_PORT', (_what, worker) => {
  expect(findPortClash(api, worker)).toBe('WORKER_PORT must not be 8080, since PORT is');
});

test.each([
  ['another port', api, { ...api, port: 8081 }],
  ['another address', api, { ...api, host: '127.0.0.2' }],
  ['ports that the system chooses', { ...api, port: 0 }, { ...api, port: 0 }],
])('%s is none', (_what, one, other) => {
  expect(findPortClash(one, other)).toBeUndefined();
});

test('a port of operators that the worker has is a problem too', () => {
  const operatorListener = { host: '127.0.0.1', port: 8082 };
  expect(findPortClash({ ...api, operatorListener }, operatorListener)).toBe(
    'WORKER_PORT must not be 8082, since OPERATOR_PORT is',
  );
  expect(findPortClash({ ...api, operatorListener }, { host: '127.0.0.1', port: 8081 })).toBeUndefined();
});

test('without it nobody may show the console in a frame', () => {
  expect(FrameAncestors.parse(undefined)).toEqual([]);
});

test.each([
  ['https://app.example.com', ['https://app.example.com']],
  [
    'https://a.example, https://*.b.example:8443,http://localhost:3000',
    ['https://a.example', 'https://*.b.example:8443', 'http://localhost:3000'],
  ],
])('%s', (text, origins) => {
  expect(FrameAncestors.parse(text)).toEqual(origins);
});

test.each([
  '*',
  'https:',
  'https://a.example/',
  'https://a.example/path',
  "'self'",
  'https://a.example; script-src *',
  'a.example',
  'https://A.example',
  'https://a.example,',
])('%s is none', (text) => {
  expect(FrameAncestors.safeParse(text).error?.issues[0]?.message).toContain('must be origins');
});
