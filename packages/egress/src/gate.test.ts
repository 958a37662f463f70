import { ProxyFailedError, type ProxyFailure } from './egress-errors.ts';
import { createGate } from './gate.ts';
import { proxyGateRules } from './create-proxy.ts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function start() {
  const events: string[] = [];
  const looks: (() => Promise<boolean>)[] = [];
  const gate = createGate<ProxyFailedError>({
    ...proxyGateRules,
    look: () => {
      events.push('look');
      return looks.shift()?.() ?? Promise.reject(new ProxyFailedError('connect_failed'));
    },
    report: {
      failed: ({ reason }) => events.push(reason),
      recovered: () => events.push('recovered'),
    },
  });
  gate.watch((isOpen) => events.push(isOpen ? 'open' : 'shut'));
  return {
    gate,
    events,
    /** What the next look finds. */
    willFind: (isAnswering: boolean) => looks.push(() => Promise.resolve(isAnswering)),
    fail: (reason: ProxyFailure, destination?: string) => {
      gate.failed(new ProxyFailedError(reason), destination);
    },
  };
}

test.each<ProxyFailure>(['lookup_failed', 'connect_failed', 'tls_failed', 'timed_out', 'unauthenticated'])(
  '%s shuts at once, since no destination can be reached',
  (reason) => {
    const { gate, fail } = start();
    fail(reason);
    expect([gate.isOpen(), gate.isDoubted(), gate.failure()?.reason]).toEqual([false, true, reason]);
  },
);

test.each<ProxyFailure>(['refused', 'closed', 'malformed_answer'])(
  '%s may be about one destination: three in a row are doubtful, those of ten shut',
  (reason) => {
    const { gate, fail } = start();
    const seen = Array.from({ length: 10 }, (_, index) => {
      fail(reason, `${index}.test|8443`);
      return `${gate.isDoubted() ? 'doubted' : 'trusted'} ${gate.isOpen() ? 'open' : 'shut'}`;
    });
    expect(seen).toEqual([
      ...Array<string>(2).fill('trusted open'),
      ...Array<string>(7).fill('doubted open'),
      'doubted shut',
    ]);
  },
);

test('a tunnel that is made between refusals begins the count anew', () => {
  const { gate, fail, events } = start();
  for (let i = 0; i < 30; i++) {
    fail('refused', `${i}.test|8443`);
    if (i % 5 === 4) gate.worked();
  }
  expect([gate.isOpen(), gate.isDoubted(), gate.failure()]).toEqual([true, false, undefined]);
  expect(events.filter((event) => event === 'recovered')).toHaveLength(6);
});

test('a shut gate looks at the proxy, at last every five seconds, and opens when it answers', async () => {
  const { gate, events, fail, willFind } = start();
  fail('connect_failed');
  events.length = 0;
  for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    await jest.advanceTimersByTimeAsync(waitMs - 1);
    expect(events).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(events.splice(0)).toEqual(['look', 'connect_failed']);
  }
  willFind(true);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(events).toEqual(['look', 'recovered', 'open']);
  expect([gate.isDoubted(), gate.failure()]).toEqual([false, undefined]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(3);
});

test('a proxy that is silent when it is looked at gets tunnels to make, and is doubted until one is made', async () => {
  const { gate, events, fail, willFind } = start();
  fail('timed_out');
  willFind(false);
  await jest.advanceTimersByTimeAsync(250);
  expect([gate.isOpen(), gate.isDoubted()]).toEqual([true, true]);
  gate.worked();
  expect(events).toEqual(['timed_out', 'shut', 'look', 'open', 'recovered']);
});

test.each<[ProxyFailure, number]>([
  ['unauthenticated', 1],
  ['refused', 10],
])(
  'an answer to a look proves nothing after %s: tunnels are tried again, more and more rarely',
  async (reason, times) => {
    const { gate, events, fail, willFind } = start();
    for (const waitMs of [250, 500, 1_000]) {
      // Whoever was refused before the gate opened is not counted again.
      for (let i = 0; i < times; i++) {
        expect(gate.isOpen()).toBe(true);
        fail(reason, `${i}.test|8443`);
      }
      expect(gate.isOpen()).toBe(false);
      willFind(true);
      await jest.advanceTimersByTimeAsync(waitMs);
      expect([gate.isOpen(), gate.isDoubted()]).toEqual([true, true]);
    }
    expect(events).not.toContain('recovered');
  },
);

test('a tunnel that is made while the gate is shut opens it, and the next outage is looked at soon again', async () => {
  const { gate, events, fail } = start();
  fail('connect_failed');
  await jest.advanceTimersByTimeAsync(10_000);
  gate.worked();
  expect([gate.isOpen(), gate.failure()]).toEqual([true, undefined]);
  events.length = 0;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(events).toEqual([]);
  fail('connect_failed');
  await jest.advanceTimersByTimeAsync(250);
  expect(events).toEqual(['connect_failed', 'shut', 'look', 'connect_failed']);
});

/** How many destinations are refused in each of a hundred rounds, a second apart, and what works after them. */
type Traffic = { when: string; refused: number; others?: 'tunnel' | 'answer'; everySeconds?: number; isShut: boolean };
test.each<Traffic>([
  { when: 'one is refused, and nobody else sends', refused: 1, isShut: false },
  { when: 'nine are refused, and nobody else sends', refused: 9, isShut: false },
  { when: 'ten are refused, and nobody else sends', refused: 10, isShut: true },
  { when: 'fifty are refused, and tunnels of others are made', refused: 50, others: 'tunnel', isShut: false },
  { when: 'fifty are refused, and kept tunnels of others carry answers', refused: 50, others: 'answer', isShut: false },
  { when: 'fifty are refused, and others send rarely', refused: 50, others: 'answer', everySeconds: 5, isShut: false },
  {
    when: 'fifty are refused, and others sent long ago',
    refused: 50,
    others: 'answer',
    everySeconds: 50,
    isShut: true,
  },
])('$when: shut is $isShut', async ({ refused, others, everySeconds = 1, isShut }) => {
  const { gate, fail, events } = start();
  if (others) gate.worked();
  for (let second = 1; second <= 100; second++) {
    for (let index = 0; index < refused; index++) fail('refused', `${index}.test|8443`);
    await jest.advanceTimersByTimeAsync(1_000);
    if (second % everySeconds !== 0) continue;
    if (others === 'tunnel') gate.worked();
    if (others === 'answer') gate.carried();
  }
  expect(events.includes('shut')).toBe(isShut);
});

test('after it has opened, one that is refused again shuts nothing', async () => {
  const { gate, fail, willFind } = start();
  for (let index = 0; index < 10; index++) fail('refused', `${index}.test|8443`);
  expect(gate.isOpen()).toBe(false);
  willFind(true);
  await jest.advanceTimersByTimeAsync(250);
  for (let count = 0; count < 100; count++) {
    fail('refused', '0.test|8443');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(gate.isOpen()).toBe(true);
  }
});

test.each<ProxyFailure>(['connect_failed', 'unauthenticated'])(
  'an answer over a tunnel that was kept mends no %s, which keeps every new one from being made',
  (reason) => {
    const { gate, fail } = start();
    fail(reason);
    gate.carried();
    expect([gate.isOpen(), gate.failure()?.reason]).toEqual([false, reason]);
    gate.worked();
    expect(gate.isOpen()).toBe(true);
  },
);

test('once closed it looks and tells no more', async () => {
  const { gate, events, fail, willFind } = start();
  fail('connect_failed');
  willFind(true);
  const looking = jest.advanceTimersByTimeAsync(250);
  gate.close();
  await looking;
  fail('connect_failed');
  await jest.advanceTimersByTimeAsync(60_000);
  expect(events).toEqual(['connect_failed', 'shut']);
});
