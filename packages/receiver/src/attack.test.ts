import { waitFor } from '@herald/test-kit';
import express5 from 'express';
import Fastify from 'fastify';
import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type AddressInfo } from 'node:net';
import { createExpressHandler, createFetchHandler, createMemoryStore, sign, type ReceiverOptions } from './index.ts';

// What strangers send, and what a customer's callbacks do, on every server: each request is answered once, and no error
// leaves the handler, which would end the process.
const express4 = createRequire(import.meta.url)('express-4') as typeof express5;
const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 'o').toString('base64')}`;
const BODY = '{"id":"trn_1","event":"webhook.test","created_at":"2030-01-02T00:00:00.000Z"}';

let printed: unknown[] = [];
beforeEach(() => {
  printed = [];
  for (const name of ['error', 'warn'] as const) {
    jest.spyOn(console, name).mockImplementation((...parts) => void printed.push(...parts));
  }
});
afterEach(async () => {
  jest.restoreAllMocks();
  await new Promise(setImmediate); // a rejection that nobody handles fails the test that it belongs to
});

let count = 0;
const newId = () => `dlv_${++count}`;
const genuine = (body = BODY) => sign({ rawBody: body, secret: SECRET, id: newId() });

type Attack = {
  readonly method?: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
};
type Served = AsyncDisposable & { send(attack: Attack): Promise<{ status: number; text: string }> };
type Server = (options: ReceiverOptions) => Promise<Served>;

async function listen(listener: RequestListener): Promise<Served & { readonly port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    send: async ({ method = 'POST', headers, body }) => {
      const sent = method === 'GET' ? null : (body ?? '');
      const answer = await fetch(`http://127.0.0.1:${port}/hooks`, { method, headers, body: sent as string | null });
      return { status: answer.status, text: await answer.text() };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const SERVERS: Readonly<Record<string, Server>> = {
  'Express 5': (options) => listen(express5().post('/hooks', createExpressHandler(options))),
  'Express 4': (options) => listen(express4().post('/hooks', createExpressHandler(options))),
  'node:http': (options) => {
    const handler = createExpressHandler(options);
    return listen((req, res) => void handler(req, res));
  },
  Fastify: async (options) => {
    const receive = createExpressHandler(options);
    const app = Fastify();
    await app.register((hooks, _options, done) => {
      hooks.removeAllContentTypeParsers();
      hooks.addContentTypeParser('*', (_request, _body, parsed) => {
        parsed(null);
      });
      hooks.post('/hooks', async (request, reply) => {
        reply.hijack();
        await receive(request.raw, reply.raw);
      });
      done();
    });
    await app.ready();
    return listen((req, res) => {
      app.routing(req, res);
    });
  },
  fetch: (options) => {
    const handler = createFetchHandler(options);
    return Promise.resolve({
      send: async ({ method = 'POST', headers, body }) => {
        const sent = method === 'GET' ? null : (body ?? '');
        const answer = await handler(
          new Request('https://me.example/hooks', { method, headers, body: sent as string | null }),
        );
        return { status: answer.status, text: await answer.text() };
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  },
};

const changed = (name: string, value: string): Attack => ({ headers: { ...genuine(), [name]: value }, body: BODY });
const missing = (name: string): Attack => {
  const { [name]: _gone, ...headers } = genuine();
  return { headers, body: BODY };
};
const signedBody = (body: string): Attack => ({ headers: genuine(body), body });

/** The status of each, and what was sent. */
function createAttacks(): (readonly [number, Attack])[] {
  const nowS = Math.floor(Date.now() / 1_000);
  const names = ['x-service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-service-delivery'];
  const garbage = [
    'true',
    '{}',
    '\t',
    '',
    ' ',
    '-',
    'null',
    '[object Object]',
    'sha256=',
    'v1,',
    'v1,AA==',
    '0',
    '../..',
    "' OR 1=1 --",
  ];
  const more = ['%00', 'Ã©', '__proto__', 'constructor', 'x'.repeat(8_000), 'v1,AAAA '.repeat(900), '1e9', 'NaN'];
  const times = [0, 1, nowS - 301, nowS + 310, 99_999_999_999].map(String);
  const wrongTimes = ['-1', '1.0', '0x1', 'Infinity', '1e3', `${nowS} 0`, '999999999999'];
  const bodies = ['', '{', '[]', 'null', '"x"', '1', `${BODY} `, '{}', '[['.repeat(5_000), '\u0000', BODY.slice(1)];
  const events = ['{}', '[]', 'null', '"x"', '{"event":1}', '{"event":"task.done","id":"t"}', '['.repeat(50_000), ''];
  return [
    ...[...garbage, ...more].flatMap((value) => names.map((name) => [401, changed(name, value)] as const)),
    ...names.map((name) => [401, missing(name)] as const),
    ...[...times, ...wrongTimes].map((time) => [401, changed('webhook-timestamp', time)] as const),
    ...bodies.map((body) => [401, { headers: genuine(), body }] as const),
    ...events.map((body) => [400, signedBody(body)] as const),
    [401, { headers: sign({ rawBody: BODY, secret: OTHER }), body: BODY }],
    [401, { headers: { ...genuine(), 'webhook-signature': 'v1,AA== '.repeat(500).trim() }, body: BODY }],
    [401, { headers: {}, body: 'x'.repeat(100_000) }],
    [413, { headers: genuine(), body: 'x'.repeat(1_100_000) }],
    [200, signedBody('{"id":"t","event":"__proto__"}')],
    [200, signedBody('{"id":"t","event":"later.one","__proto__":{"admin":true}}')],
    [401, { headers: genuine(), body: new Uint8Array([0xff, 0xfe]) }],
    [200, { headers: genuine(), body: BODY }],
  ];
}

const throws = () => {
  throw new Error('sync');
};
const rejects = () => Promise.reject(new Error('async'));
const rejectsLate = () => new Promise<void>((_resolve, reject) => setTimeout(reject, 5, new Error('late')));
const hangs = () => new Promise<never>(() => undefined);
const thenable = () => ({ then: throws }) as unknown as Promise<void>;
const BAD = { throws, rejects, rejectsLate, thenable };

describe.each(Object.entries(SERVERS))('on %s', (kind, serve) => {
  test('what strangers send is refused, each once, and what is genuine still gets through', async () => {
    const handled: string[] = [];
    const options = {
      secrets: SECRET,
      store: createMemoryStore(),
      handle: (_e: unknown, { id }: { id: string }) => void handled.push(id),
    };
    await using server = await serve({ ...options, onRefused: rejects, onError: rejects });
    const attacks = createAttacks();
    expect(attacks.length).toBeGreaterThanOrEqual(150);
    const answers = await Promise.all(attacks.map(([, attack]) => server.send(attack)));
    expect(answers.map(({ status }, at) => [status, attacks[at]?.[1]])).toEqual(attacks.map((each) => [...each]));
    expect(answers.map(({ text }) => Object.keys(JSON.parse(text) as object).length)).not.toContain(0);
    expect(handled).toHaveLength(3);
    const { status } = await server.send({ method: 'GET', headers: {} });
    expect(status).toBe(kind === 'node:http' || kind === 'fetch' ? 405 : 404);
  });

  test.each(Object.entries(BAD))('callbacks of which each %s leave the answer as it is', async (_how, bad) => {
    const options = { secrets: SECRET, store: createMemoryStore(), onRefused: bad, onError: bad };
    await using failing = await serve({ ...options, handle: bad });
    const statuses = [await failing.send({ headers: {} }), await failing.send({ headers: genuine(), body: BODY })];
    expect(statuses.map(({ status }) => status)).toEqual([401, 500]);
    const broken = { claim: bad as never };
    await using storeless = await serve({ ...options, store: broken, handle: () => undefined });
    expect((await storeless.send({ headers: genuine(), body: BODY })).status).toBe(500);
    const half = { claim: () => Promise.resolve({ kind: 'claimed', complete: bad, release: bad } as const) };
    await using forgetful = await serve({ ...options, store: half, handle: () => undefined });
    expect((await forgetful.send({ headers: genuine(), body: BODY })).status).toBe(200);
    // What onError can't take is printed, and so is its own error.
    await waitFor('all of it', () => printed.length >= 16); // of four errors, each with that of onError and a sentence
  });

  test('whatever hangs, the answer comes within the limit and names it', async () => {
    const options = { secrets: SECRET, store: createMemoryStore(), handle: () => undefined, limitMs: 30 };
    const codeOf = async (change: Partial<ReceiverOptions>) => {
      const errors: unknown[] = [];
      await using server = await serve({ ...options, onError: (error) => void errors.push(error), ...change });
      const { status, text } = await server.send({ headers: genuine(), body: BODY });
      return [status, (JSON.parse(text) as { error: string }).error, errors.length];
    };
    expect(
      await Promise.all([
        codeOf({ secrets: hangs }),
        codeOf({ store: { claim: hangs } }),
        codeOf({ handle: hangs }),
        codeOf({
          handle: throws,
          store: { claim: () => Promise.resolve({ kind: 'claimed', complete: hangs, release: hangs }) },
        }),
      ]),
    ).toEqual([
      [503, 'secrets_too_slow', 1],
      [503, 'store_too_slow', 1],
      [503, 'handle_too_slow', 1],
      [500, 'receiver_failed', 1],
    ]);
  });

  test('a repeat while handle runs is 409, also beyond the limit and when the store has forgotten the claim', async () => {
    const ends = Promise.withResolvers<undefined>();
    let calls = 0;
    let isAborted = false;
    const store = createMemoryStore({ leaseMs: 1 });
    const forgetful = {
      claim: async (id: string) => {
        const { renewal: _none, ...claim } = (await store.claim(id)) as { kind: 'claimed'; renewal?: unknown };
        return claim as Awaited<ReturnType<typeof store.claim>>;
      },
    };
    const handle: ReceiverOptions['handle'] = async (_event, { signal }) => {
      calls++;
      signal.addEventListener('abort', () => (isAborted = true));
      await ends.promise;
    };
    await using server = await serve({
      secrets: SECRET,
      store: forgetful,
      handle,
      limitMs: 30,
      onError: () => undefined,
    });
    const attack = { headers: genuine(), body: BODY };
    const statuses: number[] = [];
    for (let repeat = 0; repeat < 4; repeat++) statuses.push((await server.send(attack)).status);
    expect({ statuses, calls, isAborted }).toEqual({ statuses: [503, 409, 409, 409], calls: 1, isAborted: true });
    ends.resolve(undefined);
    await new Promise(setImmediate);
    expect([(await server.send(attack)).status, calls]).toEqual([200, 1]);
  });
});

test('a claim that is granted after the answer is given back', async () => {
  const granted = Promise.withResolvers<undefined>();
  const released = Promise.withResolvers<undefined>();
  const claim = async () => {
    await granted.promise;
    return {
      kind: 'claimed',
      complete: () => Promise.resolve(),
      release: () => {
        released.resolve(undefined);
        return Promise.resolve();
      },
    } as const;
  };
  const handler = createFetchHandler({
    secrets: SECRET,
    store: { claim },
    handle: throws,
    limitMs: 10,
    onError: () => undefined,
  });
  const answer = await handler(new Request('https://me.example/', { method: 'POST', headers: genuine(), body: BODY }));
  expect(answer.status).toBe(503);
  granted.resolve(undefined);
  await expect(released.promise).resolves.toBeUndefined();
});

test('a claim is renewed while handle runs, and no longer', async () => {
  const renewals: string[] = [];
  const renewed = new EventEmitter();
  const claim = (id: string) =>
    Promise.resolve({
      kind: 'claimed',
      complete: () => Promise.resolve(),
      release: () => Promise.resolve(),
      renewal: {
        everyMs: 1,
        renew: () => {
          if (renewals.push(id) % 3 === 0) renewed.emit(id);
          return rejects();
        },
      },
    } as const);
  const handle: ReceiverOptions['handle'] = async (_event, { id }) => {
    await once(renewed, id);
  };
  const handler = createFetchHandler({ secrets: SECRET, store: { claim }, handle, onError: () => undefined });
  const deliver = async () => {
    const headers = genuine();
    await handler(new Request('https://me.example/', { method: 'POST', headers, body: BODY }));
    return headers['x-service-delivery'];
  };
  const first = await deliver();
  const until = renewals.length;
  const second = await deliver(); // meanwhile, a timer that was left would have renewed the first
  expect([new Set(renewals.slice(0, until)), new Set(renewals.slice(until))]).toEqual([
    new Set([first]),
    new Set([second]),
  ]);
});

describe('a body', () => {
  const options: ReceiverOptions = {
    secrets: SECRET,
    store: createMemoryStore(),
    handle: () => undefined,
    onError: () => undefined,
    onRefused: () => undefined,
  };
  /** Sends a head and a part of a body, and waits for the answer. */
  async function begin(port: number, headers: Record<string, string>, part = '{'): Promise<string> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /hooks HTTP/1.1\r\nhost: me\r\n${lines.join('')}content-length: 1000000\r\n\r\n${part}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString().slice(9, 12);
  }

  test('that its headers don’t earn is not waited for', async () => {
    const handler = createExpressHandler(options);
    await using server = await listen((req, res) => void handler(req, res));
    const { 'x-service-signature': _gone, ...unsigned } = genuine();
    const old = sign({ rawBody: BODY, secret: SECRET, nowMs: Date.now() - 400_000 });
    const answers = await Promise.all([{}, unsigned, old].map((headers) => begin(server.port, headers)));
    expect(answers).toEqual(['401', '401', '401']);
  });

  test('nor where nobody has a secret', async () => {
    const handler = createExpressHandler({ ...options, secrets: () => [] });
    await using server = await listen((req, res) => void handler(req, res));
    expect(await begin(server.port, genuine())).toBe('401');
  });

  test('that does not come is answered 408 at the limit', async () => {
    const handler = createExpressHandler({ ...options, limitMs: 30 });
    await using server = await listen((req, res) => void handler(req, res));
    expect(await begin(server.port, genuine())).toBe('408');
    const body = new ReadableStream({ pull: hangs });
    const request = new Request('https://me.example/', { method: 'POST', headers: genuine(), body, duplex: 'half' });
    expect((await createFetchHandler({ ...options, limitMs: 30 })(request)).status).toBe(408);
  });

  test.each<[string, number, (req: Parameters<RequestListener>[0]) => void]>([
    ['decoded by setEncoding', 500, (req) => req.setEncoding('utf8')],
    [
      'parsed by a platform whose stream never ends',
      500,
      (req) => Object.assign(req, { body: JSON.parse(BODY) as unknown }),
    ],
    ['kept as text in rawBody', 200, (req) => Object.assign(req, { rawBody: BODY })],
    ['left alone by a parser of Express 4', 200, (req) => Object.assign(req, { body: {} })],
  ])('%s is answered %i', async (_what, status, meddle) => {
    const handler = createExpressHandler(options);
    await using server = await listen((req, res) => {
      meddle(req);
      void handler(req, res);
    });
    expect((await server.send({ headers: genuine(), body: BODY })).status).toBe(status);
  });

  test('whose answer somebody else has sent is not answered twice, and that is told', async () => {
    const errors: unknown[] = [];
    const told = Promise.withResolvers<undefined>();
    let answer: () => void = () => undefined;
    const handler = createExpressHandler({
      ...options,
      handle: () => {
        answer();
      },
      onError: (error) => {
        errors.push(error);
        told.resolve(undefined);
      },
    });
    await using server = await listen((req, res) => {
      answer = () => res.writeHead(503).end('{}');
      void handler(req, res);
    });
    expect((await server.send({ headers: genuine(), body: BODY })).status).toBe(503);
    await told.promise;
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('before the receiver could answer') as string }),
    ]);
  });

  test('of a fetch request that something else is reading, or whose url is a path, has an answer', async () => {
    const handler = createFetchHandler(options);
    const locked = new Request('https://me.example/', { method: 'POST', headers: genuine(), body: BODY });
    locked.body?.getReader();
    const relative = { url: '/hooks', method: 'POST', headers: new Headers(genuine()), body: null, bodyUsed: false };
    expect([(await handler(locked)).status, (await handler(relative as Request)).status]).toEqual([500, 401]);
  });
});
