import type { z } from 'zod';
import { EVENT_NAMES, type EventName } from '../events.ts';
import {
  PatchCallback,
  PatchReceiver,
  RECEIVER_LIMIT,
  RegisterReceiver,
  TaskCallback,
  wantsEvent,
} from './endpoint.ts';

const url = 'https://example.com/hooks';
const UNKNOWN_EVENT =
  'Invalid option: expected one of "task.check_in"|"task.requires_action"|"task.done"|"task.canceled"|"webhook.test"';
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
  { body: { url, events: Array(21).fill('task.done') }, problems: ['events: must have at most 20 names'] },
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
