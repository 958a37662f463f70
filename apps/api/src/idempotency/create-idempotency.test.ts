import { TaskClosedError, UnavailableError } from '@herald/core';
import type { IdempotencyStore } from '@herald/store/access/idempotency-store';
import { waitFor } from '@herald/test-kit';
import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAccessJudge } from '../auth/judge-access.ts';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { createErrorHandler } from '../http/handle-error.ts';
import { atRoute } from '../http/request-state.ts';
import { createIdempotency } from './create-idempotency.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * The middleware in front of a handler, on a store that grants every record and writes down what is done with it.
 * @param keep what the store replies to an answer to keep
 */
async function startApp(handle: RequestHandler, keep: () => Promise<'kept' | 'lost'> = () => Promise.resolve('kept')) {
  const calls: string[] = [];
  const warnings: (readonly [event: string, fields: unknown])[] = [];
  const note = <Reply>(call: string, reply: Reply) => {
    calls.push(call);
    return Promise.resolve(reply);
  };
  const records: IdempotencyStore = {
    leaseMs: 30,
    acquire: ({ path, idempotencyKey }) => {
      const record = {
        seed: { at: 0, random: new Uint8Array(16) },
        renew: () => note('renew', 'renewed' as const),
        keepAnswer: async ({ status }: { status: number }) => await note(`keep ${status}`, await keep()),
        giveBack: (changed: string) => note(`give back, changed ${changed}`, 'given_back' as const),
      };
      return note(`acquire ${path} ${idempotencyKey}`, { kind: 'acquired' as const, record });
    },
  };
  const judge = createAccessJudge({
    findKey: () => Promise.resolve({ id: 'key_1', scopes: ['tasks'], createdAt: 0 }),
    isDataHere: () => Promise.resolve(true),
    findLink: () => Promise.resolve(undefined),
    mayOperatorsWrite: false,
    failures: createFailureLimiter(1, Date.now),
    noteUse: () => undefined,
  });
  const app = express();
  const table = { tag: '', path: '/tasks', access: 'tasks', ids: {}, operations: [] } as const;
  app.all(
    '/tasks/:id/cancel',
    atRoute('/tasks/:id/cancel', '/tasks/{id}/cancel'),
    judge({ method: 'post' } as never, table),
    createIdempotency({ records, logger: { ...silent, warn: (...[event, fields]) => warnings.push([event, fields]) } }),
    handle,
  );
  app.use(createErrorHandler(silent));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    calls,
    warnings,
    async send(method: string, headers: Readonly<Record<string, string>>) {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answer = await fetch(`${origin}/tasks/t1/cancel?x=1`, {
        method,
        headers: { authorization: 'Bearer any', connection: 'close', ...headers },
      });
      await answer.text();
      return answer.status;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

const KEY = { 'idempotency-key': 'k' };

test('a request without a key, and a GET with one, cost nothing', async () => {
  await using app = await startApp((_req, res) => void res.json({}));
  expect([await app.send('POST', {}), await app.send('GET', KEY)]).toEqual([200, 200]);
  expect(app.calls).toEqual([]);
});

test.each<[string, RequestHandler, string]>([
  ['a success is kept', (_req, res) => void res.status(202).json({}), 'keep 202'],
  [
    'a 4xx changed nothing',
    () => {
      throw new TaskClosedError('t1', 'done');
    },
    'give back, changed nothing',
  ],
  [
    'of a 503 nobody knows what it changed',
    () => {
      throw new UnavailableError('away');
    },
    'give back, changed perhaps',
  ],
  ['of a bug nobody knows what it changed', () => Promise.reject(new Error('bug')), 'give back, changed perhaps'],
])('%s', async (_name, handle, ending) => {
  await using app = await startApp(handle);
  await app.send('POST', KEY);
  expect(app.calls).toEqual(['acquire /tasks/t1/cancel k', ending]);
  expect(app.warnings).toEqual([]);
});

test.each<[string, () => Promise<'lost'>, object]>([
  ['idempotency.record_lost', () => Promise.resolve('lost'), {}],
  ['idempotency.answer_not_kept', () => Promise.reject(new Error('Redis is away')), { status: 200 }],
])('an answer that is not kept is sent all the same, and the log says %s', async (event, keep, fields) => {
  await using app = await startApp((_req, res) => void res.json({}), keep);
  expect(await app.send('POST', KEY)).toBe(200);
  expect(app.warnings).toEqual([[event, { requestId: '', ...fields }]]);
});

test('a slow request keeps its record by renewing it, until it is answered', async () => {
  const held = Promise.withResolvers<undefined>();
  await using app = await startApp(async (_req, res) => {
    await held.promise;
    res.json({});
  });
  const sent = app.send('POST', KEY);
  await waitFor('three renewals', () => app.calls.filter((call) => call === 'renew').length >= 3);
  held.resolve(undefined);
  expect(await sent).toBe(200);
  expect(app.calls.at(-1)).toBe('keep 200');
});
