import type { z } from 'zod';
import { EVENT_NAMES, type EventName } from '../events.ts';
import {
  createSigningKey,
  EndpointUrl,
  LockReceiver,
  newSigningSecret,
  PatchCallback,
  PatchReceiver,
  RECEIVER_LIMIT,
  RegisterReceiver,
  TaskCallback,
  wantsEvent,
} from './endpoint.ts';

const url = 'https://example.com/hooks';
const UNKNOWN_EVENT = `Invalid option: expected one of ${EVENT_NAMES.map((name) => `"${name}"`).join('|')}`;
const HOURS = 'must be a whole number from 1 to 120';

function problemsOf(schema: z.ZodType, input: unknown): string[] {
  return schema.safeParse(input).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

test('a workspace may hold ten receivers (spec section 8)', () => {
  expect(RECEIVER_LIMIT).toBe(10);
});

test.each<{ when: string; body: object; receiver: object }>([
  { when: 'a url alone', body: { url }, receiver: { url, events: [], description: '', enabled: true } },
  {
    when: 'an empty event list',
    body: { url, events: [] },
    receiver: { url, events: [], description: '', enabled: true },
  },
  {
    when: 'everything',
    body: {
      url,
      events: ['webhook.test', 'task.check_in'],
      description: 'Ops',
      enabled: false,
      headers: { Authorization: 'x' },
      maxRetryHours: 1,
    },
    receiver: {
      url,
      events: ['task.check_in', 'webhook.test'],
      description: 'Ops',
      enabled: false,
      headers: { authorization: 'x' },
      maxRetryHours: 1,
    },
  },
  {
    when: 'no limits, said outright',
    body: { url, maxRetryHours: null, rateLimit: null },
    receiver: { url, events: [], description: '', enabled: true, maxRetryHours: null, rateLimit: null },
  },
  {
    when: 'a rate',
    body: { url, rateLimit: { perSecond: 1 } },
    receiver: { url, events: [], description: '', enabled: true, rateLimit: { perSecond: 1 } },
  },
  {
    when: 'repeated events',
    body: { url, events: ['task.done', 'task.check_in', 'task.done'] },
    receiver: { url, events: ['task.check_in', 'task.done'], description: '', enabled: true },
  },
  {
    when: 'all events backwards',
    body: { url, events: [...EVENT_NAMES].reverse() },
    receiver: { url, events: [...EVENT_NAMES], description: '', enabled: true },
  },
])('a registration with $when is complete, its events once each in the spec’s order', ({ body, receiver }) => {
  expect(RegisterReceiver.parse(body)).toStrictEqual(receiver);
});

const sharedRefusals = [
  { body: { url: 'http://example.com' }, problems: ['url: must start with https://'] },
  { body: { url: null }, problems: ['url: Invalid input: expected string, received null'] },
  { body: { url, events: ['task.failed'] }, problems: [`events.0: ${UNKNOWN_EVENT}`] },
  { body: { url, events: ['task.done', 'task.*'] }, problems: [`events.1: ${UNKNOWN_EVENT}`] },
  { body: { url, events: null }, problems: ['events: must be an array of event names; an empty one stands for all'] },
  {
    body: { url, events: 'task.done' },
    problems: ['events: must be an array of event names; an empty one stands for all'],
  },
  {
    body: { url, events: Array(EVENT_NAMES.length * 4 + 1).fill('task.done') },
    problems: [`events: must have at most ${EVENT_NAMES.length * 4} names`],
  },
  { body: { url, secret: 'whsec_x', workspaceId: 'ws_1' }, problems: [': Unrecognized keys: "secret", "workspaceId"'] },
  {
    body: { url, headers: null },
    problems: ['headers: must be an object with the name and the value of each header'],
  },
  { body: { url, headers: { 'x-a': '' } }, problems: ['headers.x-a: must not be empty'] },
];
const receiverRefusals = [
  { body: { url, enabled: 'false' }, problems: ['enabled: Invalid input: expected boolean, received string'] },
  { body: { url, description: null }, problems: ['description: Invalid input: expected string, received null'] },
  {
    body: { url, description: 'x'.repeat(1_025) },
    problems: ['description: Too big: expected string to have <=1024 characters'],
  },
  { body: { url, maxRetryHours: 0 }, problems: [`maxRetryHours: ${HOURS}`] },
  { body: { url, maxRetryHours: 121 }, problems: [`maxRetryHours: ${HOURS}`] },
  { body: { url, maxRetryHours: 1.5 }, problems: [`maxRetryHours: ${HOURS}`] },
  ...[0, 1_001, -1, 2.5, '10', null].map((perSecond) => ({
    body: { url, rateLimit: { perSecond } },
    problems: ['rateLimit.perSecond: must be a whole number from 1 to 1000'],
  })),
  {
    body: { url, rateLimit: 10 },
    problems: ['rateLimit: must be an object such as {"perSecond": 10}, or null for no limit'],
  },
  {
    body: { url, rateLimit: { perSecond: 1, perMinute: 1 } },
    problems: ['rateLimit: Unrecognized key: "perMinute"'],
  },
  { body: null, problems: [': Invalid input: expected object, received null'] },
  { body: [], problems: [': Invalid input: expected object, received array'] },
  { body: JSON.parse(`{"url":"${url}","__proto__":{}}`) as unknown, problems: [': Unrecognized key: "__proto__"'] },
];

test.each([
  ...sharedRefusals,
  ...receiverRefusals,
  { body: {}, problems: ['url: Invalid input: expected string, received undefined'] },
])('a registration $body is refused: $problems', ({ body, problems }) => {
  expect(problemsOf(RegisterReceiver, body)).toEqual(problems);
});

test.each([
  { body: { url }, patch: { url } },
  { body: { events: [] }, patch: { events: [] } },
  { body: { events: ['task.done', 'task.check_in'] }, patch: { events: ['task.check_in', 'task.done'] } },
  { body: { description: '' }, patch: { description: '' } },
  { body: { enabled: false }, patch: { enabled: false } },
  { body: { headers: {} }, patch: { headers: {} } },
  { body: { headers: { 'X-A': '1' } }, patch: { headers: { 'x-a': '1' } } },
  { body: { maxRetryHours: 120 }, patch: { maxRetryHours: 120 } },
  { body: { maxRetryHours: null }, patch: { maxRetryHours: null } },
  { body: { rateLimit: { perSecond: 1_000 } }, patch: { rateLimit: { perSecond: 1_000 } } },
  { body: { rateLimit: null }, patch: { rateLimit: null } },
])('a patch $body changes exactly $patch', ({ body, patch }) => {
  expect(PatchReceiver.parse(body)).toStrictEqual(patch);
});

test.each([
  ...sharedRefusals,
  ...receiverRefusals,
  {
    body: {},
    problems: [
      ': must change at least one of url, events, description, enabled, headers, maxRetryHours, ordering, orderingTimeoutSeconds, rateLimit',
    ],
  },
])('a patch $body is refused: $problems', ({ body, problems }) => {
  expect(problemsOf(PatchReceiver, body)).toEqual(problems);
});

test('a new callback has a url and an event filter, and nothing to switch off', () => {
  expect(TaskCallback.parse({ url })).toStrictEqual({ url, events: [] });
  expect(TaskCallback.parse({ url, headers: { 'X-A': '1' } })).toMatchObject({ headers: { 'x-a': '1' } });
  expect(problemsOf(TaskCallback, { url, enabled: false, description: '', maxRetryHours: 1 })).toEqual([
    ': Unrecognized keys: "enabled", "description", "maxRetryHours"',
  ]);
});

test.each(sharedRefusals)('a callback $body is refused: $problems', ({ body, problems }) => {
  expect(problemsOf(TaskCallback, body)).toEqual(problems);
});

test.each([
  { body: { url }, patch: { url } },
  { body: { events: ['task.done', 'task.check_in'] }, patch: { events: ['task.check_in', 'task.done'] } },
  { body: { enabled: true }, patch: { enabled: true } },
  { body: { headers: { 'X-A': '1' } }, patch: { headers: { 'x-a': '1' } } },
])('a patch $body of a callback changes exactly $patch', ({ body, patch }) => {
  expect(PatchCallback.parse(body)).toStrictEqual(patch);
});

test.each([
  ...sharedRefusals,
  { body: { url, description: 'mine' }, problems: [': Unrecognized key: "description"'] },
  {
    body: {},
    problems: [': must change at least one of url, events, enabled, headers, ordering, orderingTimeoutSeconds'],
  },
])('a patch $body of a callback is refused: $problems', ({ body, problems }) => {
  expect(problemsOf(PatchCallback, body)).toEqual(problems);
});

test.each<{ events: EventName[]; wanted: readonly EventName[] }>([
  { events: [], wanted: EVENT_NAMES },
  { events: ['task.done'], wanted: ['task.done'] },
  { events: ['task.canceled', 'webhook.test'], wanted: ['task.canceled', 'webhook.test'] },
])('the filter $events lets $wanted through and nothing else', ({ events, wanted }) => {
  expect(EVENT_NAMES.filter((event) => wantsEvent({ events }, event))).toEqual(wanted);
});

test('a secret is whsec_ and the base64 of 32 bytes, which are the Standard Webhooks key', () => {
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { service, standard } = createSigningKey(secret);
  expect(standard.export()).toHaveLength(32);
  expect(`whsec_${standard.export().toString('base64')}`).toBe(secret);
  expect(service.export().toString()).toBe(secret);
});

test('no two secrets are the same', () => {
  expect(new Set(Array.from({ length: 100 }, newSigningSecret)).size).toBe(100);
});

test.each([
  'https://example.com',
  'https://example.com/hooks?a=1&b=%20',
  'https://example.com:8443/x',
  'https://[2606:4700::1111]/x',
  'https://[2606:4700:0:0::1111]:8443/x',
  'https://[2606:4700::ABCD]',
  'https://EXAMPLE.com:443/X',
  'HTTPS://example.com/x',
  'Https://example.com',
  'https://ex_ample.com:65535',
  'https://bücher.example/x',
  'https://BÜCHER.example/x',
  'https://faß.example',
  'https://xn--bcher-kva.example/x',
  'https://例え.example',
  'https://1.1.1.1/x',
  'https://example.com/a:@b',
  'https://example.com?a=1',
  "https://example.com/a|b;c=1,2/~x/%7e/%2f/%zz/'()*!$&+",
  'https://example.com/a//b/...?q={a}|b/../c',
  `https://example.com/${'x'.repeat(2_028)}`,
])('%s is accepted and kept as it was sent', (url) => {
  expect(EndpointUrl.parse(url)).toBe(url);
});

test.each([
  ['http://example.com', 'must start with https://'],
  ['HTTP://example.com', 'must start with https://'],
  ['HTTPS://user@example.com', 'credentials'],
  ['HTTPS://example.com/a/../b', 'must be written as it is called, https://example.com/b'],
  ['ftp://example.com', 'must start with https://'],
  ['example.com', 'must start with https://'],
  ['', 'must start with https://'],
  ['https:example.com', 'must start with https://'],
  ['https:/example.com', 'must start with https://'],
  ['https://', 'must name a host after https://'],
  ['https:///example.com', 'must name a host after https://'],
  ['https://?x', 'must name a host after https://'],
  [' https://example.com', 'white space'],
  ['https://example.com/a b', 'white space'],
  ['https://exa\tmple.com', 'white space'],
  ['https://example.com\\@evil.example', 'backslashes'],
  ['https://user:pw@example.com', 'credentials (user or password): send them in `headers`'],
  ['https://@example.com', 'credentials'],
  ['https://user@example.com/', 'credentials'],
  ['https://example.com/#part', 'fragment'],
  ['https://exa mple.com', 'white space'],
  ['https://exa\r\nmple.com', 'white space'],
  ['https://example.com/\0', 'white space'],
  ['https://example.com\u3000', 'white space'],
  ['https:\\\\example.com', 'backslashes'],
  ['https://exa\u00admple.com', 'invisible'],
  ['https://exa\u200bmple.com', 'invisible'],
  ['https://example.com/\u202efdp.exe', 'invisible'],
  ['https://example.com/\ud800', 'broken'],
  ['https://a:b:c@example.com', 'credentials'],
  ['https://1.1.1.1@127.0.0.1/', 'credentials'],
  ['https://1.1.1.1%40127.0.0.1/', 'must be a valid url'],
  ['https://example.com:', 'a port from 1 to 65535'],
  ['https://example.com:/x', 'a port from 1 to 65535'],
  ['https://example.com:0443', 'a port from 1 to 65535'],
  ['https://example.com:0', 'a port from 1 to 65535'],
  ['https://[2606:4700::1111]:', 'a port from 1 to 65535'],
  ['https://example.com:65536', 'must be a valid url'],
  ['https://example.com:４４３', 'must be a valid url'],
  ['https://example.com:-1', 'must be a valid url'],
  ['https://ex%61mple.com', 'the host that it means, example.com'],
  ['https://%65xample%2Ecom', 'the host that it means, example.com'],
  ['https://２.example.com', 'the host that it means, 2.example.com'],
  ['https://example。com', 'the host that it means, example.com'],
  ['https://ⓔxample.com', 'the host that it means, example.com'],
  ['https://ſ.example.com', 'the host that it means, s.example.com'],
  ['https://bu\u0308cher.example', 'the host that it means, xn--bcher-kva.example'],
  ['https://１２７.０.０.１', 'the host that it means, 127.0.0.1'],
  ['https://127。0。0。1', 'the host that it means, 127.0.0.1'],
  ['https://①②⑦.0.0.1', 'the host that it means, 127.0.0.1'],
  ['https://2130706433', 'the host that it means, 127.0.0.1'],
  ['https://0x7f.1', 'the host that it means, 127.0.0.1'],
  ['https://0177.0.0.1', 'the host that it means, 127.0.0.1'],
  ['https://127.1', 'the host that it means, 127.0.0.1'],
  ['https://1.1.1.1.', 'the host that it means, 1.1.1.1'],
  ['https://0', 'the host that it means, 0.0.0.0'],
  ['https://256.256.256.256', 'must be a valid url'],
  ['https://1.2.3.4.5', 'must be a valid url'],
  ['https://١٢٧.0.0.1', 'must be a valid url'],
  ['https://example.com/a/../b', 'written as it is called, https://example.com/b'],
  ['https://example.com/a/..', 'written as it is called, https://example.com/'],
  ['https://example.com/./a?b', 'written as it is called, https://example.com/a?b'],
  ['https://example.com/%2e%2e/a', 'written as it is called, https://example.com/a'],
  ['https://example.com/a/%2E/b', 'written as it is called, https://example.com/a/b'],
  ['https://example.com:8443/a/.%2e/b', 'written as it is called, https://example.com:8443/b'],
  ['https://example.com/a"b', 'written as it is called, https://example.com/a%22b'],
  ['https://example.com/{id}', 'written as it is called, https://example.com/%7Bid%7D'],
  ['https://example.com/`a`', 'written as it is called, https://example.com/%60a%60'],
  ['https://example.com/<a>', 'written as it is called, https://example.com/%3Ca%3E'],
  ['https://example.com/ü', 'written as it is called, https://example.com/%C3%BC'],
  ['https://bücher.example/ü', 'written as it is called, https://bücher.example/%C3%BC'],
  ['https://example.com/?q=ü', 'written as it is called, https://example.com/?q=%C3%BC'],
  ["https://example.com/?q='a'", 'written as it is called, https://example.com/?q=%27a%27'],
  ['https://example.com?q="a"', 'written as it is called, https://example.com/?q=%22a%22'],
  ['https://example.com/a?', 'written as it is called, https://example.com/a'],
  ['https://example.com/a b', '; write https://example.com/a%20b'],
  ['https://example.com/a\tb', '; write https://example.com/ab'],
  ['https://example.com/a\r\nb', '; write https://example.com/ab'],
  ['https://example.com/a\\b', '; write https://example.com/a/b'],
  ['https://example.com/?a\\b', 'backslashes'],
  [`https://example.com/${'ü'.repeat(1_000)}`, 'at most 2048 characters when it is written as it is called'],
  ['https://[::1%25eth0]', 'must be a valid url'],
  ['https://[127.0.0.1]', 'must be a valid url'],
  ['https://exam<ple.com', 'must be a valid url'],
  ['https://example.com:99999', 'must be a valid url'],
  ['https://[::1', 'must be a valid url'],
  [`https://example.com/${'x'.repeat(2_029)}`, 'at most 2048 characters'],
])('%j is refused: %s', (url, reason) => {
  const parsed = EndpointUrl.safeParse(url);
  expect(parsed.error?.issues[0]?.message).toContain(reason);
});

const problemOf = (reason: unknown) => LockReceiver.safeParse({ reason }).error?.issues[0]?.message;

test('the reason of a lock may be left out, and has at most 200 characters', () => {
  expect(LockReceiver.parse({})).toEqual({});
  expect(LockReceiver.parse({ reason: 'x'.repeat(200) })).toEqual({ reason: 'x'.repeat(200) });
  expect(problemOf('x'.repeat(201))).toBe('must have at most 200 characters');
  expect(problemOf('')).toBe('must not be empty; leave it out to give no reason');
});

test.each(['two\nlines', 'a\u001b[31mred', ' blanks around ', 'hidden\u200b', 'turned \u202e round', '\ud800'])(
  'the reason %j is refused: others read it, on a terminal too',
  (reason) => {
    expect(problemOf(reason)).toBe('must be plain text on one line, without blanks around it');
  },
);
