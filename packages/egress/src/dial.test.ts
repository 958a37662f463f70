import { startPlain, waitFor } from '@herald/test-kit';
import type { Socket } from 'node:net';
import { createAddressPolicy } from './address-policy.ts';
import { createDirectConnector, dial, type Connector, type Lookup } from './dial.ts';

const V4 = '93.184.215.14';
const OTHER_V4 = '93.184.215.15';
const V6 = '2606:4700::1111';
const PRIVATE = '10.0.0.1';
const publicOnly = createAddressPolicy({ allowCidrs: [] });
const NEVER = new Promise<never>(() => undefined);
const withCode = (code: string) => Object.assign(new Error(code), { code });

/** Connects as the test says, and tells what was dialled, when and what became of it. */
function startDialling(
  lookup: Lookup,
  outcomes: Readonly<Record<string, 'connects' | 'hangs' | Error | Promise<unknown>>>,
  over: Partial<Connector> = {},
) {
  const dialled: string[] = [];
  const dialledAt: number[] = [];
  const givenUp: string[] = [];
  const connected = new Map<string, { destroyed: boolean }>();
  const startedAt = performance.now();
  const connector: Connector = {
    connect: async (address, signal) => {
      dialled.push(address);
      dialledAt.push(performance.now() - startedAt);
      const outcome = outcomes[address] ?? 'hangs';
      if (outcome instanceof Error) throw outcome;
      if (outcome instanceof Promise) await outcome;
      if (outcome === 'hangs') {
        const { promise, reject } = Promise.withResolvers<never>();
        signal.addEventListener('abort', () => {
          givenUp.push(address);
          reject(new Error('given up'));
        });
        await promise;
      }
      const socket = {
        address,
        destroyed: false,
        destroy() {
          this.destroyed = true;
        },
      };
      connected.set(address, socket);
      return socket as unknown as Socket;
    },
    phase: () => 'connect',
    isFinal: () => false,
    ...over,
  };
  const dialling = dial({ host: 'receiver.test', lookup, policy: publicOnly, connector });
  const opened = dialling.opened.then((socket) => (socket as unknown as { address: string }).address);
  return { dialling, opened, dialled, dialledAt, givenUp, connected };
}

const parts =
  (...given: readonly (readonly string[] | Promise<readonly string[]>)[]): Lookup =>
  () =>
    given.map((part) => Promise.resolve(part));

describe('the guard', () => {
  test.each([
    ['in the first part', [PRIVATE], [V6]],
    ['in the second part', [V4], ['fd00::1']],
    ['behind an allowed one', [V4, PRIVATE], []],
    ['hidden in IPv6', [V4], ['64:ff9b::a00:1']],
  ])('refuses a name with a forbidden address %s, before any is dialled', async (_where, a, aaaa) => {
    const { opened, dialled } = startDialling(parts(a, aaaa), { [V4]: 'connects', [V6]: 'connects' });
    await expect(opened).rejects.toMatchObject({ code: 'ERR_ADDRESS_BLOCKED' });
    expect(dialled).toEqual([]);
  });

  test('never dials what came later and is forbidden, nor what came with it', async () => {
    const late = Promise.withResolvers<readonly string[]>();
    const refusal = Promise.withResolvers<never>();
    const { opened, dialled } = startDialling(parts([V4], late.promise), { [V4]: refusal.promise, [V6]: 'connects' });
    await waitFor('the first to be dialled', () => dialled.length === 1);
    late.resolve([V6, 'fd00::1']);
    await late.promise;
    refusal.reject(withCode('ECONNREFUSED'));
    await expect(opened).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(dialled).toEqual([V4]);
  });

  test('judges the peer too', async () => {
    await using server = await startPlain(() => undefined);
    const dialling = dial({
      host: '0.0.0.0',
      lookup: parts(),
      policy: undefined,
      connector: createDirectConnector(server.port),
    });
    await expect(dialling.opened).rejects.toThrow('127.0.0.1 answered');
  });
});

describe('a look-up', () => {
  test('that never ends in one family costs 50 ms', async () => {
    const { opened, dialledAt } = startDialling(parts([V4], NEVER), { [V4]: 'connects' });
    expect(await opened).toBe(V4);
    expect(dialledAt[0]).toBeGreaterThanOrEqual(45);
    expect(dialledAt[0]).toBeLessThan(1_000);
  });

  test('whose other part is late is dialled as far as it has come, and then on', async () => {
    const late = Promise.withResolvers<readonly string[]>();
    const { opened, dialled } = startDialling(parts([V4], late.promise), { [V6]: 'connects' });
    await waitFor('the first to be dialled', () => dialled.length === 1);
    late.resolve([V6]);
    expect(await opened).toBe(V6);
    expect(dialled).toEqual([V4, V6]);
  });

  test.each<[string, 'connects' | Error, string]>([
    ['connects', 'connects', V6],
    ['fails, too', withCode('ECONNRESET'), 'ECONNREFUSED'],
  ])('whose other part comes once IPv4 is refused is dialled on, and %s', async (_what, ofV6, end) => {
    const late = Promise.withResolvers<readonly string[]>();
    const outcomes = { [V4]: withCode('ECONNREFUSED'), [V6]: ofV6 };
    const { opened, dialling, dialled } = startDialling(parts([V4], late.promise), outcomes);
    await waitFor('the first to fail', () => dialling.failed());
    expect(dialling.failed()).toMatchObject({ code: 'ECONNREFUSED' });
    late.resolve([V6]);
    expect(await opened.catch((error: unknown) => (error as { code: string }).code)).toBe(end);
    expect(dialled).toEqual([V4, V6]);
    expect(dialling.failed()).toBeUndefined();
  });

  test.each<[string, readonly string[] | Error]>([
    ['nothing', []],
    ['a forbidden address', ['fd00::1']],
    ['an error', withCode('ESERVFAIL')],
  ])('whose other part comes once IPv4 is refused, and brings %s, fails at once', async (_what, brings) => {
    const late = Promise.withResolvers<readonly string[]>();
    const { opened, dialling, dialled } = startDialling(parts([V4], late.promise), { [V4]: withCode('ECONNREFUSED') });
    await waitFor('the first to fail', () => dialling.failed());
    const broughtAt = performance.now();
    if (brings instanceof Error) late.reject(brings);
    else late.resolve(brings);
    await expect(opened).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(performance.now() - broughtAt).toBeLessThan(1_000);
    expect(dialled).toEqual([V4]);
  });

  test('of which one family is silent and the other refused fails after a bounded time', async () => {
    const { useFakeTimers, advanceTimersByTimeAsync, useRealTimers } = jest;
    useFakeTimers();
    try {
      const { opened, dialling } = startDialling(parts([V4], NEVER), { [V4]: withCode('ECONNREFUSED') });
      const failed = opened.catch((error: unknown) => error);
      await advanceTimersByTimeAsync(2_000);
      expect(dialling.failed()).toMatchObject({ code: 'ECONNREFUSED' });
      await advanceTimersByTimeAsync(1_000);
      expect(await failed).toMatchObject({ code: 'ECONNREFUSED' });
    } finally {
      useRealTimers();
    }
  });

  test('whose first part is empty waits for the second', async () => {
    const late = Promise.withResolvers<readonly string[]>();
    const { opened, dialling } = startDialling(parts([], late.promise), { [V6]: 'connects' });
    expect(dialling.phase()).toBe('lookup');
    late.resolve([V6]);
    expect(await opened).toBe(V6);
  });

  test.each<[string, Lookup, object]>([
    ['nothing', parts([], []), {}],
    [
      'an error and nothing',
      () => [Promise.reject(withCode('ESERVFAIL')), Promise.resolve([])],
      { cause: { code: 'ESERVFAIL' } },
    ],
    [
      'no record and an error',
      () => [Promise.reject(withCode('ENODATA')), Promise.reject(withCode('ETIMEOUT'))],
      { cause: { code: 'ETIMEOUT' } },
    ],
  ])('that finds %s fails with the error that says more', async (_what, lookup, error) => {
    const { opened } = startDialling(lookup, {});
    await expect(opened).rejects.toMatchObject({ code: 'ERR_LOOKUP_FAILED', ...error });
  });
});

describe('several addresses', () => {
  test('are raced: the next begins after 250 ms, and the first goes on and may still win', async () => {
    const slow = Promise.withResolvers<undefined>();
    const outcomes = { [V4]: slow.promise, [OTHER_V4]: 'hangs' } as const;
    const { opened, dialled, dialledAt, givenUp } = startDialling(parts([V4, OTHER_V4]), outcomes);
    await waitFor('the second to be dialled', () => dialled.length === 2);
    expect((dialledAt[1] ?? 0) - (dialledAt[0] ?? 0)).toBeGreaterThanOrEqual(245);
    slow.resolve(undefined);
    expect(await opened).toBe(V4);
    await waitFor('the other to be given up', () => givenUp.length === 1);
    expect(givenUp).toEqual([OTHER_V4]);
  });

  test('of which the first fails are dialled on at once', async () => {
    const { opened, dialledAt } = startDialling(parts([V4, OTHER_V4]), {
      [V4]: withCode('ECONNREFUSED'),
      [OTHER_V4]: 'connects',
    });
    expect(await opened).toBe(OTHER_V4);
    expect((dialledAt[1] ?? 0) - (dialledAt[0] ?? 0)).toBeLessThan(200);
  });

  test.each([
    ['ECONNREFUSED', 'ENETUNREACH'],
    ['ECONNREFUSED', 'EHOSTUNREACH'],
    ['ETIMEDOUT', 'ENETUNREACH'],
    ['ECONNRESET', 'EADDRNOTAVAIL'],
  ])('that all fail end with %s and not with %s, in whatever order', async (further, nearer) => {
    for (const [first, second] of [
      [further, nearer],
      [nearer, further],
    ] as const) {
      const { opened } = startDialling(parts([V4, V6]), { [V4]: withCode(first), [V6]: withCode(second) });
      await expect(opened).rejects.toMatchObject({ code: further });
    }
  });

  test('are given up together when nobody waits any more', async () => {
    const { opened, dialling, dialled, givenUp } = startDialling(parts([V4, OTHER_V4]), {});
    await waitFor('both to be dialled', () => dialled.length === 2);
    expect(dialling.phase()).toBe('connect');
    dialling.close();
    await expect(opened).rejects.toThrow('nobody waits');
    await waitFor('both to be given up', () => givenUp.length === 2);
    expect(givenUp).toEqual([V4, OTHER_V4]);
  });

  test('that connect too late are closed', async () => {
    const late = Promise.withResolvers<undefined>();
    const { opened, dialled, connected } = startDialling(parts([V4, OTHER_V4]), {
      [V4]: late.promise,
      [OTHER_V4]: 'connects',
    });
    expect(await opened).toBe(OTHER_V4);
    expect(dialled).toEqual([V4, OTHER_V4]);
    late.resolve(undefined);
    await waitFor('the loser to connect', () => connected.get(V4));
    await waitFor('it to be closed', () => connected.get(V4)?.destroyed);
    expect(connected.get(OTHER_V4)?.destroyed).toBe(false);
  });

  test('of a name with hundreds are dialled up to twelve', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `93.184.215.${index + 1}`);
    const outcomes = Object.fromEntries(many.map((address) => [address, withCode('ECONNREFUSED')]));
    const { opened, dialled } = startDialling(parts(many), outcomes);
    await expect(opened).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(dialled).toHaveLength(12);
  });

  test('end at once when one error is that of all', async () => {
    const isFinal = (error: unknown) => (error as Error).message === 'EFINAL';
    const { opened, dialled } = startDialling(parts([V4, OTHER_V4]), { [V4]: withCode('EFINAL') }, { isFinal });
    await expect(opened).rejects.toThrow('EFINAL');
    expect(dialled).toEqual([V4]);
  });

  test('begin with IPv4, by which operators know their workers', async () => {
    const { opened, dialled } = startDialling(parts([V6], [V4]), { [V4]: 'connects', [V6]: 'connects' });
    expect(await opened).toBe(V4);
    expect(dialled).toEqual([V4]);
  });
});
