import { EventEmitter } from 'node:events';
import type { Request } from 'express';
import { createBodyLimit, createPriceLists, createRateLimit } from '../http/rate-limit.ts';
import { budgetOf, type Caller, stateOf } from '../http/request-state.ts';
import { limitTestEvents } from '../receivers/manage-receivers.ts';

const linkOf = (operator?: string) => ({
  ...{ id: 'plk_1', workspaceId: 'ws_1', readOnly: false, createdAt: 0, expiresAt: 1 },
  ...(operator === undefined ? { keyId: 'key_1' } : { operator }),
});
const callerBy = (by: string, portalLink?: ReturnType<typeof linkOf>): Caller => ({
  ...{ by, workspaceId: 'ws_1', scopes: [] },
  ...(portalLink && { portalLink }),
});
const TENANTS = [callerBy('key_1'), callerBy('plk_1', linkOf())] as const;
const OPERATORS = [callerBy('plk_2', linkOf('olga')), callerBy('plk_3', linkOf('otto'))] as const;

/** Asks for one more, which stays under way when it is let through. */
type Gate = () => (caller: Caller) => Promise<'passed' | 'refused' | 'waits'>;
const requestBy = (caller: Caller) => {
  const req = {
    get: (name: string) => (name === 'transfer-encoding' ? 'chunked' : undefined),
    headers: {},
  } as unknown as Request;
  stateOf(req).caller = caller;
  return req;
};
const openAnswer = () =>
  Object.assign(new EventEmitter(), { closed: false, setHeader: () => undefined, append: () => undefined }) as never;
const never = new Promise<never>(() => undefined);
const passes = (run: (pass: () => void) => unknown) =>
  new Promise<'passed' | 'refused' | 'waits'>((resolve) => {
    const pass = (fault?: unknown) => {
      resolve(fault === undefined ? 'passed' : 'refused');
    };
    setImmediate(() => {
      setImmediate(resolve, 'waits');
    });
    const start = async () => await run(pass);
    start().catch(pass);
  });

const GATES: readonly [what: string, count: number, gate: Gate][] = [
  [
    'requests in a second',
    5,
    () => {
      const counts = new Map<string, number>();
      const limit = createRateLimit(5, (args) => {
        if (args[0] === 'SCRIPT') return Promise.resolve('sha');
        const key = String(args[3]);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return Promise.resolve([counts.get(key), 1_000]);
      });
      return (caller) => passes((pass) => limit(requestBy(caller), openAnswer(), pass));
    },
  ],
  [
    'unfinished bodies',
    128,
    () => {
      const limit = createBodyLimit();
      return (caller) =>
        passes((pass) => {
          limit(requestBy(caller), openAnswer(), pass);
        });
    },
  ],
  [
    'lists that are read',
    3,
    () => {
      const readPriced = createPriceLists({} as never, 0);
      return (caller) =>
        passes((pass) =>
          readPriced(requestBy(caller), openAnswer(), () => {
            pass();
            return never;
          }),
        );
    },
  ],
  [
    'test events',
    5,
    () => {
      let sent = () => undefined as unknown;
      const send = limitTestEvents(() => {
        sent();
        return never;
      });
      return (caller) =>
        passes((pass) => {
          sent = pass;
          return send(budgetOf(requestBy(caller)), 'ws_1', 'wh_1', 'webhook.test');
        });
    },
  ],
];

test.each(GATES)('of %s operators have as many as the tenant, whatever the tenant does', async (_what, count, gate) => {
  const ask = gate();
  /** One more than there is room for, by two in turn. */
  const askAll = async ([first, second]: readonly [Caller, Caller]) => {
    const seen: string[] = [];
    for (let at = 0; at <= count; at++) seen.push(await ask(at % 2 === 0 ? first : second));
    return seen;
  };
  const stopped = expect.stringMatching(/refused|waits/) as string;
  const expected = [...Array<string>(count).fill('passed'), stopped];
  expect(await askAll(TENANTS)).toEqual(expected);
  expect(await askAll(OPERATORS)).toEqual(expected);
});
