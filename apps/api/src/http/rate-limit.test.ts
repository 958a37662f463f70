import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { HungUpError } from './problem.ts';
import { createBodyLimit, createPriceLists } from './rate-limit.ts';
import { stateOf } from './request-state.ts';

const PAGE = { deliveries: [], lookedAt: 90 };

/** A request of a workspace, and what was taken from its budget. */
function build() {
  const spent: unknown[] = [];
  const evalsha = (_sha: string, _count: number, ...args: unknown[]) => Promise.resolve(spent.push(args));
  const readPriced = createPriceLists({ evalsha } as never, 200);
  const ask = (workspaceId: string, read: (signal: AbortSignal) => Promise<typeof PAGE>) => {
    const req = {} as Request;
    stateOf(req).caller = { workspaceId, scopes: [], by: 'key_1' };
    const res = new EventEmitter();
    return { res, page: readPriced(req, res as unknown as Response, read) };
  };
  return { spent, ask };
}

test('a page costs the budget what it costs Redis', async () => {
  const { spent, ask } = build();
  await ask('ws_1', () => Promise.resolve(PAGE)).page;
  await ask('ws_1', () => Promise.resolve({ ...PAGE, lookedAt: 19 })).page;
  expect(spent).toEqual([['herald:rate:ws_1', 4]]);
});

test('three lists of a workspace are read at a time, the others in turn, and those of another workspace beside them', async () => {
  const { ask } = build();
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<typeof PAGE>());
  const begun: number[] = [];
  const asked = gates.map(({ promise }, index) =>
    ask('ws_1', () => {
      begun.push(index);
      return promise;
    }),
  );
  await ask('ws_2', () => Promise.resolve(PAGE)).page;
  expect(begun).toEqual([0, 1, 2]);
  gates[1]?.reject(new Error('it failed'));
  await expect(asked[1]?.page).rejects.toThrow('it failed');
  expect(begun).toEqual([0, 1, 2, 4]);
  for (const gate of gates) gate.resolve(PAGE);
  await Promise.all(asked.map(({ page }) => page.catch(() => undefined)));
  expect(begun).toEqual([0, 1, 2, 4, 3]);
});

test('a list whose client hangs up is given up', async () => {
  const { spent, ask } = build();
  const { res, page } = ask('ws_1', async (signal) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    signal.throwIfAborted();
    return PAGE;
  });
  await Promise.resolve();
  res.emit('close');
  await expect(page).rejects.toBeInstanceOf(HungUpError);
  expect(spent).toEqual([]);
});

test('a list whose client has hung up before is not read', async () => {
  const req = {} as Request;
  stateOf(req).caller = { workspaceId: 'ws_1', scopes: [], by: 'key_1' };
  const readPriced = createPriceLists({} as never, 200);
  const read = () => Promise.reject(new Error('nobody asked'));
  await expect(readPriced(req, { closed: true } as Response, read)).rejects.toBeInstanceOf(HungUpError);
});

test('bodies count until their requests are answered, and those of clients that have hung up before do not', () => {
  const limit = createBodyLimit();
  const begin = (closed: boolean) => {
    const req = { get: (name: string) => (name === 'transfer-encoding' ? 'chunked' : undefined) } as Request;
    stateOf(req).caller = { workspaceId: 'ws_1', scopes: [], by: 'key_1' };
    const res = Object.assign(new EventEmitter(), { closed });
    limit(req, res as unknown as Response, () => undefined);
    return res;
  };
  for (let at = 0; at < 200; at++) expect(() => begin(true)).toThrow(HungUpError);
  const begun = Array.from({ length: 128 }, () => begin(false));
  expect(() => begin(false)).toThrow('too many large requests of yours are under way');
  begun[0]?.emit('close');
  begin(false);
});
