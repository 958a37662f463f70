import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TaskClosedError, UnavailableError, ValidationError, WorkspaceFullError } from '@herald/core';
import type { IdempotencyStore } from '@herald/store/access/idempotency-store';
import { waitFor } from '@herald/test-kit';
import express from 'express';
import type { RequestHandler } from 'express';
import { createFailureLimiter } from './auth/failure-limiter.ts';
import { createAccessJudge } from './auth/judge-access.ts';
import { createErrorHandler } from './http/handle-error.ts';
import { atRoute } from './http/request-state.ts';
import {
  bodyFingerprint,
  createIdempotency,
  readIdempotencyKey,
  startRefresher,
  toAnswerBody,
  toKeptAnswer,
} from './idempotency.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * The middleware in front of a handler, on a store that grants every record and writes down what is done with it.
 * @param keep what the store replies to an answer to keep
 * @param room whether it has room for a new key, and what happens where it has none
 */
async function startApp(
  handle: RequestHandler,
  keep: () => Promise<'kept' | 'lost'> = () => Promise.resolve('kept'),
  room: { readonly none?: boolean; readonly mayRunAgain?: boolean } = {},
) {
  const calls: string[] = [];
  const warnings: (readonly [event: string, fields: unknown])[] = [];
  const note = <Reply>(call: string, reply: Reply) => {
    calls.push(call);
    return Promise.resolve(reply);
  };
  const records: IdempotencyStore = {
    leaseMs: 30,
    acquire: ({ path, idempotencyKey }) => {
      if (room.none) {
        const error = new WorkspaceFullError('answers', 1);
        return note(`acquire ${path} ${idempotencyKey}`, { kind: 'no_room' as const, error });
      }
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
    createIdempotency({
      records,
      logger: { ...silent, warn: (...[event, fields]) => warnings.push([event, fields]) },
      ...(room.mayRunAgain && { mayRunAgain: true }),
    }),
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

test.each([
  { where: 'it creates something', status: 429, runs: 0 },
  { where: 'it does no harm again', mayRunAgain: true, status: 200, runs: 1 },
])('without room for its answer a new key is answered $status where $where', async ({ status, runs, ...room }) => {
  let ran = 0;
  const handle: RequestHandler = (_req, res) => {
    ran++;
    res.json({});
  };
  await using app = await startApp(handle, undefined, { none: true, ...room });
  expect([await app.send('PATCH', KEY), ran]).toEqual([status, runs]);
  expect(app.calls).toEqual(['acquire /tasks/t1/cancel k']);
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

function answer(statusCode: number, headers: Readonly<Record<string, string>> = {}) {
  return { statusCode, get: (name: string) => headers[name] };
}

test('a receiver is kept without its secret, with its status and place', () => {
  const res = answer(201, {
    location: '/api/public/webhooks/wh_1',
    'cache-control': 'no-store',
    'x-request-id': 'req_1',
  });
  expect(toKeptAnswer(res, '{"id":"wh_1","secret":"whsec_x"}', {})).toEqual({
    status: 201,
    headers: { location: '/api/public/webhooks/wh_1', 'cache-control': 'no-store' },
    body: { id: 'wh_1' },
  });
});

test("a Task is kept without its callback's secret", () => {
  const json = '{"id":"task_1","callback":{"url":"https://a.example/","secret":"whsec_x"}}';
  expect(toKeptAnswer(answer(201), json, {}).body).toEqual({ id: 'task_1', callback: { url: 'https://a.example/' } });
});

test('a portal link is kept without its token, and without the url that has it', () => {
  const json = '{"url":"/console#token=hrlp_x","token":"hrlp_x","expiresAt":"2030-01-31T12:00:00.000Z"}';
  expect(toKeptAnswer(answer(201), json, {}).body).toEqual({ expiresAt: '2030-01-31T12:00:00.000Z' });
});

test.each(['null', '[1]', '{"callback":null,"results":[{"secret":1}]}'])('%s is kept as it is', (json) => {
  expect(toKeptAnswer(answer(200), json, undefined).body).toEqual(JSON.parse(json));
});

test('a text that the request had is not kept, and stands in the answer to its repetition where it stood', () => {
  const asked = { text: 'canary', actionVersion: 1, status: 'other' };
  const json = '{"taskId":"task_1","text":"canary","actionVersion":1,"status":"done"}';
  const kept = toKeptAnswer(answer(200), json, asked);
  expect(JSON.stringify(kept)).not.toContain('canary');
  expect(JSON.stringify(toAnswerBody(kept, asked))).toBe(json);
});

test('a list and an object that the request had are not kept either', () => {
  const asked = { events: ['task.done', 'task.failed'], headers: { 'x-a': 'canary' }, enabled: true };
  const json =
    '{"id":"wh_1","events":["task.done","task.failed"],"headers":{"x-a":"canary"},"enabled":true,"url":"https://a/"}';
  const kept = toKeptAnswer(answer(200), json, asked);
  expect(kept.repeated).toEqual(['events', 'headers']);
  expect(JSON.stringify(kept)).not.toContain('canary');
  expect(JSON.stringify(toAnswerBody(kept, asked))).toBe(json);
});

test('an answer that a former version kept whole is given as it is', () => {
  const body = { taskId: 'task_1', text: 'kept' };
  expect(toAnswerBody({ status: 200, headers: {}, body }, { text: 'kept' })).toEqual(body);
});

const read = (...values: string[]) =>
  readIdempotencyKey(
    values.length > 0
      ? { headers: { 'idempotency-key': values.join(', ') }, headersDistinct: { 'idempotency-key': values } }
      : { headers: {}, headersDistinct: {} },
  );

test('without the header there is no key', () => {
  expect(read()).toBeUndefined();
});

test.each([
  ['a plain key', 'order-42', 'order-42'],
  ['a UUID', '8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['one character', '!', '!'],
  ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
  ['the form of the IETF draft', '"order-42"', 'order-42'],
  ['escapes inside quotes', String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ['255 characters inside quotes', `"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ['a quote that does not begin it', 'a"b', 'a"b'],
])('%s is read', (_name, text, key) => {
  expect(read(text)).toBe(key);
});

test.each([
  ['nothing', ['']],
  ['empty quotes', ['""']],
  ['256 characters', ['k'.repeat(256)]],
  ['a space', ['order 42']],
  ['a space inside quotes', ['"order 42"']],
  ['a quote that is not closed', ['"order']],
  ['a quote that ends too early', ['"a"b"']],
  ['an unknown escape', [String.raw`"a\b"`]],
  ['parameters', ['"order";v=1']],
  ['a control character', ['order\u0001']],
  ['a letter beyond ASCII', ['órder']],
  ['the header twice', ['order', 'order']],
])('%s is refused, and the message names the header', (_name, values) => {
  expect(() => read(...values)).toThrow(ValidationError);
  expect(() => read(...values)).toThrow(/^Idempotency-Key must be /);
});

const of = (json: string) => bodyFingerprint(JSON.parse(json));

test.each([
  ['another order of keys', '{"a":1,"b":{"c":[1,2],"d":null}}', '{ "b": {"d": null, "c": [1, 2]}, "a": 1 }'],
  ['another spelling of a number', '{"a":1.0}', '{"a":1}'],
  ['another spelling of a character', '{"a":"\\u0041"}', '{"a":"A"}'],
])('%s makes no other body', (_name, one, same) => {
  expect(of(one)).toBe(of(same));
});

test.each([
  ['another value', '{"a":1}', '{"a":2}'],
  ['another type', '{"a":1}', '{"a":"1"}'],
  ['another key', '{"a":1}', '{"b":1}'],
  ['another order in a list', '[1,2]', '[2,1]'],
  ['another place of the same value', '{"a":{"b":1}}', '{"a":1,"b":1}'],
  ['another value on the 66th level', `${'['.repeat(66)}1${']'.repeat(66)}`, `${'['.repeat(66)}2${']'.repeat(66)}`],
  ['a list instead of its text', '["1,2"]', '[1,2]'],
  ['null instead of nothing', '{"a":null}', '{}'],
  ['a key that looks like structure', '{"a\\":1,\\"b":2}', '{"a":1,"b":2}'],
  ['a __proto__ of its own', '{"__proto__":1}', '{}'],
])('%s makes another body', (_name, one, other) => {
  expect(of(one)).not.toBe(of(other));
});

test('a body with numbers that parsing changed is no other than the same text', () => {
  const [text, rounded] = ['[9007199254740993]', '[9007199254740992]'];
  const fingerprint = bodyFingerprint(JSON.parse(text), text);
  expect(fingerprint).not.toBe(of(rounded));
  expect(fingerprint).not.toBe(bodyFingerprint(JSON.parse(text), '[9007199254740991]'));
  expect(fingerprint).toBe(bodyFingerprint(JSON.parse(text), text));
});

test('a body of any depth has a fingerprint', () => {
  const depth = 100_000;
  expect(of(`${'['.repeat(depth)}1${']'.repeat(depth)}`)).toMatch(/^[\w-]{43}$/);
});

const LEASE_MS = 60_000;
describe('the refresher', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function start(answer: () => Promise<'renewed' | 'lost'>) {
    const seen = { renewals: 0, warnings: [] as string[] };
    const warn = (event: string) => seen.warnings.push(event);
    const record = {
      seed: { at: 0, random: new Uint8Array(16) },
      renew: () => {
        seen.renewals++;
        return answer();
      },
      keepAnswer: () => Promise.resolve('kept' as const),
      giveBack: () => Promise.resolve('given_back' as const),
    };
    return { seen, stop: startRefresher(record, LEASE_MS, { debug: warn, info: warn, warn, error: warn }, 'req_1') };
  }

  test('a record is renewed well within each lease until its request ends, and not after', async () => {
    const { seen, stop } = start(() => Promise.resolve('renewed'));
    await jest.advanceTimersByTimeAsync(LEASE_MS * 3);
    expect(seen).toEqual({ renewals: 9, warnings: [] });
    stop();
    await jest.advanceTimersByTimeAsync(LEASE_MS * 3);
    expect(seen.renewals).toBe(9);
  });

  test.each([
    ['was taken over', () => Promise.resolve('lost' as const), 'idempotency.record_lost'],
    ['cannot be renewed', () => Promise.reject(new Error('Redis is away')), 'idempotency.renewal_failed'],
  ])('a record that %s is said in the log', async (_name, answer, event) => {
    const { seen, stop } = start(answer);
    await jest.advanceTimersByTimeAsync(LEASE_MS / 3);
    stop();
    expect(seen.warnings).toEqual([event]);
  });
});
