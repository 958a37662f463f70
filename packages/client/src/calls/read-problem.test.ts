import { readProblem, readRetryAfter } from './read-problem.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const read = (text: string, headers: Record<string, string> = {}, status = 422) =>
  readProblem({ status, headers: new Headers(headers), text }, NOW);

test('a problem of Herald keeps its code, its fields and its request id', () => {
  const errors = [{ path: 'url', message: 'url is required' }];
  const fields = { status: 422, code: 'validation_failed', requestId: 'req_1', errors };
  const error = read(JSON.stringify({ ...fields, detail: 'url is required' }), { 'retry-after': '2' });
  expect(error).toMatchObject({ ...fields, retryAfterMs: 2_000 });
  expect(error.message).toBe('url is required');
});

test.each([
  ['the page of a proxy', '<html>Bad Gateway</html>'],
  ['nothing', ''],
  ['a text in quotes', '"no"'],
])('%s is a problem with an unknown code, and has the request id of the header', (_what, text) => {
  const error = read(text, { 'x-request-id': 'req_2' }, 502);
  expect(error).toMatchObject({ status: 502, code: 'unknown', requestId: 'req_2', errors: [] });
  expect(error.message).toContain('502');
  expect(error.retryAfterMs).toBeUndefined();
});

test.each([
  [null, undefined],
  ['0', 0],
  ['120', 120_000],
  ['Tue, 01 Jan 2030 00:00:05 GMT', 5_000],
  ['Mon, 31 Dec 2029 00:00:00 GMT', 0],
  ['soon', undefined],
])('Retry-After %p is %p ms', (value, ms) => {
  expect(readRetryAfter(value, NOW)).toBe(ms);
});
