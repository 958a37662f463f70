import { readAnswerHeaders } from './start-exchange.ts';

/** Bytes as Node hands them over in a header. */
const asRead = (text: string) => Buffer.from(text).toString('latin1');

test('the headers that explain an answer are kept, and no others', () => {
  expect(
    readAnswerHeaders({
      'content-type': 'text/html; charset=utf-8',
      'retry-after': '120',
      location: 'https://example.com/sign-in?next=%2F',
      server: 'nginx',
      'www-authenticate': 'Basic realm="hooks"',
      'set-cookie': ['session=1'],
      'content-length': '12',
      'x-internal': 'no',
    }),
  ).toEqual({
    'content-type': 'text/html; charset=utf-8',
    'retry-after': '120',
    location: 'https://example.com/sign-in?next=%2F',
    server: 'nginx',
    'www-authenticate': 'Basic realm="hooks"',
  });
});

test.each([{}, { date: 'now' }, { server: '' }])('of %j nothing is kept', (headers) => {
  expect(readAnswerHeaders(headers)).toBeUndefined();
});

test.each([
  { what: 'UTF-8', value: asRead('/ключ?é'), kept: '/ключ?é' },
  { what: 'bytes that are no UTF-8', value: 'a\xff\xc0b', kept: 'a\ufffd\ufffdb' },
  { what: 'control characters', value: `a\tb${asRead('\u009b31m')}`, kept: 'a\ufffdb\ufffd31m' },
  { what: 'a long value', value: 'x'.repeat(5_000), kept: 'x'.repeat(256) },
  { what: 'a character across the cut', value: `${'x'.repeat(255)}${asRead('é')}`, kept: 'x'.repeat(255) },
])('of $what stays what is text, within 256 bytes', ({ value, kept }) => {
  expect(readAnswerHeaders({ location: value })).toEqual({ location: kept });
});
