import { digestOf } from '@herald/core';
import { readAttempt, writeAttempt } from './attempt-record.ts';

const attempt = { at: 1_700_000_000_000, durationMs: 12, status: 503, answer: 'later' };

test('an attempt is read as it was written', () => {
  const headers = {
    'content-type': 'text/plain',
    'retry-after': '120',
    location: '/x',
    server: 'nginx',
    'www-authenticate': 'Basic',
  };
  for (const each of [attempt, { ...attempt, headers }, { ...attempt, headers: { server: 'nginx' } }]) {
    expect(readAttempt(writeAttempt(each))).toEqual(each);
  }
});

test('without headers it takes no byte more than in release 0.1.0, and with them few beside their values', () => {
  expect(writeAttempt(attempt)).toBe(JSON.stringify(attempt));
  const headers = { 'content-type': 'application/json', server: 'nginx' };
  const values = Object.values(headers).join('').length;
  expect(writeAttempt({ ...attempt, headers }).length - writeAttempt(attempt).length - values).toBeLessThanOrEqual(20);
});

test('the same attempt is the same text, in whatever order its headers came', () => {
  const one = writeAttempt({ ...attempt, headers: { server: 'a', location: 'b' } });
  expect(writeAttempt({ ...attempt, headers: { location: 'b', server: 'a' } })).toBe(one);
});

test('an attempt of release 0.1.0 is read', () => {
  expect(readAttempt('{"at":1,"durationMs":2,"error":"dns_failed"}')).toEqual({
    at: 1,
    durationMs: 2,
    error: 'dns_failed',
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6'],
  ['::1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::', '::'],
])('an attempt to %s tells of %s, by which keys, and with which digest', (address, shown) => {
  const proof = { address, keyIds: ['5f2a90', '000000'] };
  const text = writeAttempt({ ...attempt, ...proof });
  expect(readAttempt(text)).toEqual({ ...attempt, ...proof, address: shown, digest: digestOf('later') });
  const digest = digestOf('later, and more');
  expect(readAttempt(writeAttempt({ ...attempt, ...proof, digest }))).toMatchObject({ address: shown, digest });
  expect(text.length - writeAttempt(attempt).length).toBeLessThanOrEqual(38);
});

test('what is no address is left out', () => {
  expect(writeAttempt({ ...attempt, address: 'localhost', keyIds: ['5f2a90'] })).toBe(writeAttempt(attempt));
});
