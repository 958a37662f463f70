import {
  dropsHeaders,
  findRefusal,
  isToldAtFields,
  judgeAdvanced,
  NO_ADVANCED,
  toAdvancedFields,
  toAdvancedInput,
} from './form-input.ts';

const first = toAdvancedInput({
  ordering: 'task',
  orderingTimeoutSeconds: 7_200,
  rateLimit: { perSecond: 5 },
  maxRetryHours: 24,
  headerNames: ['authorization', 'x-tenant'],
});

test('what nobody has changed is not sent', () => {
  expect(toAdvancedFields(NO_ADVANCED, NO_ADVANCED)).toEqual({});
  expect(toAdvancedFields(first, first)).toEqual({});
});

test.each([
  ['another order', { ordering: 'none' }, { ordering: 'none' }],
  ['another timeout', { orderingTimeout: ' 30m ' }, { orderingTimeoutSeconds: 1_800 }],
  ['another rate', { perSecond: '7' }, { rateLimit: { perSecond: 7 } }],
  ['no rate', { perSecond: '' }, { rateLimit: null }],
  ['fewer hours', { maxRetryHours: '1' }, { maxRetryHours: 1 }],
  ['the usual hours', { maxRetryHours: ' ' }, { maxRetryHours: null }],
  ['other headers', { headers: 'X-A: b: c\n\n y : z ' }, { headers: { 'X-A': 'b: c', y: 'z' } }],
  ['no headers', { headers: '' }, { headers: {} }],
] as const)('%s is sent alone', (_what, change, sent) => {
  expect(toAdvancedFields(first, { ...first, ...change })).toEqual(sent);
});

test.each([
  [{ orderingTimeout: '30 minutes' }, 'orderingTimeoutSeconds', 'must be a duration such as 30m, 24h or 2d'],
  [{ perSecond: '1.5' }, 'rateLimit', 'must be a whole number'],
  [{ perSecond: '-1' }, 'rateLimit', 'must be a whole number'],
  [{ maxRetryHours: 'a day' }, 'maxRetryHours', 'must be a whole number'],
  [{ headers: 'x: 1\nBearer secret' }, 'headers', 'line 2 must be name: value'],
  [{ headers: ': secret' }, 'headers', 'line 1 must be name: value'],
  [{ headers: 'x: secret\nx: secret' }, 'headers', 'line 2 has a name that an earlier line has'],
] as const)('%j can’t be sent', (change, path, message) => {
  const problems = judgeAdvanced({ ...NO_ADVANCED, ...change });
  expect([...problems]).toEqual([[path, message]]);
  expect([...judgeAdvanced(first), ...judgeAdvanced(NO_ADVANCED)]).toEqual([]);
});

test.each([
  ['the same origin', 'https://a.example/other', first, false],
  ['another host', 'https://b.example/hook', first, true],
  ['another port', 'https://a.example:8443/hook', first, true],
  ['another host with new headers', 'https://b.example/hook', { ...first, headers: 'x: 1' }, false],
  ['another host without headers', 'https://b.example/hook', NO_ADVANCED, false],
  ['half a url', 'https://', first, false],
])('whether headers are dropped: %s', (_what, url, input, drops) => {
  expect(dropsHeaders('https://a.example/hook', url, input)).toBe(drops);
});

test('what the service refuses is told at its field, a header with its name', () => {
  const refusals = [
    { path: 'rateLimit.perSecond', message: 'rateLimit.perSecond must be small' },
    { path: 'headers.host', message: 'headers.host must not be given' },
    { path: 'headers', message: 'must be few' },
  ];
  expect(findRefusal(refusals, 'rateLimit')).toBe('must be small');
  expect(findRefusal(refusals, 'headers')).toBe('host must not be given; must be few');
  expect(findRefusal(refusals, 'url')).toBeUndefined();
  expect(isToldAtFields(refusals)).toBe(true);
  expect(isToldAtFields([...refusals, { path: '', message: 'must change something' }])).toBe(false);
  expect(isToldAtFields([])).toBe(false);
});
