import { findPortClash } from './find-port-clash.ts';

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
