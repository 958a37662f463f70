import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createErrorHandler } from './handle-error.ts';
import { HttpFault } from './problem.ts';
import { admit } from './request-state.ts';
import { admitEverybody, createRouter, refuseUnknownPath, type Steps } from './create-router.ts';
import { operation, type RouteTable } from './operation.ts';

const ANSWER = { status: 200, description: '', schema: z.strictObject({ ran: z.string() }) };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const pass: RequestHandler = (_req, _res, next) => {
  next();
};

type Ran = { readonly ran: string[] };

const THINGS: RouteTable<Ran> = {
  tag: 'Things',
  path: '/things',
  access: 'webhooks',
  ids: { id: 'receiver' },
  operations: (['GET /', 'POST /', 'GET /{id}', 'DELETE /{id}'] as const).map((route) =>
    operation(route, route, {
      summary: '',
      audit: 'none',
      answer: ANSWER,
      handle({ ran }) {
        ran.push(route);
        return { ran: route };
      },
    }),
  ),
};
const [LIST, ADD] = THINGS.operations;

/** The table with these steps. Returns what became of a request, and which operations have run. */
async function request(steps: Steps, line: string): Promise<{ status: number; ran: string[] }> {
  const ran: string[] = [];
  const app = express();
  app.use(THINGS.path, createRouter(THINGS, { ran }, steps), refuseUnknownPath);
  app.use(createErrorHandler(silent));
  await using server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [method = '', path = ''] = line.split(' ');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status } = await fetch(origin + path, { method, headers: { connection: 'close' } });
  return { status, ran };
}

const WH = `wh_${'0'.repeat(26)}`;
const LINES = ['GET /things', 'POST /things', `GET /things/${WH}`, `DELETE /things/${WH}`];

test.each([...LINES, 'HEAD /things', 'GET /things/', 'GET /THINGS'])(
  '%s runs once somebody has admitted it',
  async (line) => {
    const { status, ran } = await request({ judge: admitEverybody }, line);
    expect({ status, ran: ran.length }).toEqual({ status: 200, ran: 1 });
  },
);

describe.each<[string, Steps['judge']]>([
  ['nobody has judged it', () => pass],
  [
    'it was admitted to another operation',
    (each) => (req, _res, next) => {
      admit(req, (each === LIST ? ADD : LIST) ?? {});
      next();
    },
  ],
  [
    'it was admitted to one that looks the same',
    (each) => (req, _res, next) => {
      admit(req, { ...each });
      next();
    },
  ],
])('when %s', (_when, judge) => {
  test.each([...LINES, 'HEAD /things', 'GET /things/'])('%s fails, and does nothing', async (line) => {
    await expect(request({ judge }, line)).resolves.toEqual({ status: 500, ran: [] });
  });
});

test.each(LINES)('%s is judged as itself, and before anything else looks at it', async (line) => {
  const judged: string[] = [];
  const limited: RequestHandler = () => {
    throw new Error('it was looked at');
  };
  const judge: Steps['judge'] =
    ({ id }, table) =>
    () => {
      judged.push(`${table.path} ${id}`);
      throw new HttpFault('insufficient_scope', 'no');
    };
  const steps = { judge, limits: [limited], parse: () => [limited] };
  await expect(request(steps, `${line}?unknown=1`)).resolves.toEqual({ status: 403, ran: [] });
  expect(judged).toEqual([`/things ${line.replace('/things', '').replace(WH, '{id}').replace(/ $/, ' /')}`]);
});

test.each(['PUT /things', 'PATCH /things', 'OPTIONS /things', `POST /things/${WH}`])(
  '%s is no operation: it is judged by nobody, and does nothing',
  async (line) => {
    const judge: Steps['judge'] = () => () => {
      throw new Error('it was judged');
    };
    await expect(request({ judge }, line)).resolves.toEqual({ status: 405, ran: [] });
  },
);

test('an operation that the trail has to name is not mounted without a trail', () => {
  const audited: RouteTable<object> = {
    ...THINGS,
    operations: [
      operation('change', 'POST /', { summary: '', audit: 'answer', answer: ANSWER, handle: () => ({ ran: '' }) }),
    ],
  };
  expect(() => createRouter(audited, {}, { judge: admitEverybody })).toThrow('nobody would write down who used change');
});

test('whoever changed something is answered once the trail has it, and is told when it could not be written down', async () => {
  const changing: RouteTable<object> = {
    ...THINGS,
    operations: [
      operation('change', 'POST /', { summary: '', audit: 'path', answer: ANSWER, handle: () => ({ ran: 'it' }) }),
    ],
  };
  const written = Promise.withResolvers<undefined>();
  const audits = [written.promise, Promise.reject(new Error('Redis is away'))];
  audits[1]?.catch(() => undefined);
  const asked: string[] = [];
  const audit = ({ action }: { readonly action: string }) => {
    asked.push(action);
    return audits[asked.length - 1] ?? Promise.resolve();
  };
  const app = express();
  app.use('/things', createRouter(changing, {}, { judge: admitEverybody, audit }));
  app.use(createErrorHandler(silent));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/things`;
    const change = () => fetch(url, { method: 'POST', headers: { connection: 'close' } });
    let isAnswered = false;
    const first = change().finally(() => {
      isAnswered = true;
    });
    while (asked.length === 0) await new Promise(setImmediate);
    // The second is answered meanwhile.
    expect((await change()).status).toBe(500);
    expect(isAnswered).toBe(false);
    written.resolve(undefined);
    expect((await first).status).toBe(200);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
