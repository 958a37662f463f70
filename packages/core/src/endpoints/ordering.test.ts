import { PatchCallback, PatchReceiver, RegisterReceiver, TaskCallback } from './endpoint.ts';
import { changedOrderingTimeout, OrderingTimeoutText, orderingTimeoutOf, type EndpointOrdering } from './ordering.ts';

const url = 'https://example.com/hooks';
const DAY_MS = 86_400_000;

test.each([RegisterReceiver, PatchReceiver, TaskCallback, PatchCallback])('every body may ask for order', (schema) => {
  const asked = { url, ordering: 'task', orderingTimeout: '2d' };
  expect(schema.parse(asked)).toMatchObject({ ordering: 'task', orderingTimeout: 2 * DAY_MS });
  expect(schema.parse({ url })).not.toHaveProperty('ordering');
  expect(schema.parse({ url })).not.toHaveProperty('orderingTimeout');
});

test.each([
  ['60s', 60_000],
  ['1m', 60_000],
  ['432000s', 5 * DAY_MS],
  ['5d', 5 * DAY_MS],
])('a timeout of %s is %d ms', (text, ms) => {
  expect(OrderingTimeoutText.parse(text)).toBe(ms);
});

test.each(['59999ms', '432000001ms', '0s', '6d', '24', '', '1h30m', ' 1h', '24h\n', 24, null])(
  'a timeout of %j is refused once, with the bounds',
  (timeout) => {
    const messages = OrderingTimeoutText.safeParse(timeout).error?.issues.map(({ message }) => message);
    expect(messages).toEqual(['must be a duration from 1m to 5d, such as 30m, 24h or 2d']);
  },
);

test.each<{ endpoint: EndpointOrdering; timeoutMs: number | undefined }>([
  { endpoint: {}, timeoutMs: undefined },
  { endpoint: { orderingTimeoutMs: 60_000 }, timeoutMs: undefined },
  { endpoint: { ordering: 'none', orderingTimeoutMs: 60_000 }, timeoutMs: undefined },
  { endpoint: { ordering: 'task' }, timeoutMs: DAY_MS },
  { endpoint: { ordering: 'task', orderingTimeoutMs: 60_000 }, timeoutMs: 60_000 },
])('an event for $endpoint waits $timeoutMs ms for its turn at most', ({ endpoint, timeoutMs }) => {
  expect(orderingTimeoutOf(endpoint)).toBe(timeoutMs);
});

type Asked = Parameters<typeof changedOrderingTimeout>[0];

test.each<[Asked, EndpointOrdering, number | undefined]>([
  [{}, {}, undefined],
  [{ orderingTimeoutSeconds: 86_400 }, {}, undefined],
  [{ orderingTimeout: DAY_MS, orderingTimeoutSeconds: 86_400 }, {}, undefined],
  [{ orderingTimeout: 60_001, orderingTimeoutSeconds: 61 }, { orderingTimeoutMs: 60_001 }, undefined],
  [{ orderingTimeoutSeconds: 61 }, { orderingTimeoutMs: 60_001 }, undefined],
  [{ orderingTimeoutSeconds: 60 }, { orderingTimeoutMs: 60_001 }, 60_000],
  [{ orderingTimeout: DAY_MS }, { orderingTimeoutMs: 60_001 }, DAY_MS],
])('a PATCH with %j of an endpoint with %j changes its timeout to %j', (asked, before, change) => {
  expect(changedOrderingTimeout(asked, before)).toBe(change);
});

test.each<Asked>([
  { orderingTimeout: 60_000, orderingTimeoutSeconds: 60 },
  { orderingTimeout: DAY_MS, orderingTimeoutSeconds: 60 },
  { orderingTimeout: 60_000, orderingTimeoutSeconds: 86_400 },
])('a PATCH with %j is refused where one of them is new', (asked) => {
  expect(() => changedOrderingTimeout(asked, {})).toThrow(
    'orderingTimeout is the former name of orderingTimeoutSeconds, which is given too: leave it out',
  );
});
