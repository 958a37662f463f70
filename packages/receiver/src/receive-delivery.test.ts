import { createSigningKey, newSigningSecret, renderTestBody, signatureHeaders, type SigningKeys } from '@herald/core';
import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createExpressHandler } from './create-express-handler.ts';
import { createFetchHandler } from './create-fetch-handler.ts';
import { createMemoryStore } from './delivery-store.ts';
import type { ReceiverOptions, ReceiverRefusal } from './receiver-options.ts';

const SECRET = newSigningSecret();
const BODY = renderTestBody('trn_1', Date.UTC(2030, 0, 2));
const keys: SigningKeys = { current: createSigningKey(SECRET) };

function sign(id = 'dlv_1', { body = BODY, now = Date.now(), by = keys } = {}): Record<string, string> {
  return signatureHeaders({ id, event: 'webhook.test', body: Buffer.from(body), now }, by);
}

interface Served extends AsyncDisposable {
  url: string;
}

async function serve(listener: RequestListener): Promise<Served> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?for=me`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The events that a receiver has handled, and its options. */
function spy(more: Partial<ReceiverOptions> = {}) {
  const handled: string[] = [];
  const errors: unknown[] = [];
  const refusals: ReceiverRefusal[] = [];
  const options: ReceiverOptions = {
    secrets: SECRET,
    store: createMemoryStore(),
    handle: (event, { id }) => void handled.push(`${event.event} ${id}`),
    onError: (error) => errors.push(error),
    onRefused: (refusal) => refusals.push(refusal),
    ...more,
  };
  return { handled, errors, refusals, options };
}

type Send = (init: { headers?: Record<string, string>; body?: string; method?: string }) => Promise<Response>;
type Kind = (options: ReceiverOptions) => Promise<{ send: Send } & AsyncDisposable>;

const overNetwork = async (listener: RequestListener) => {
  const served = await serve(listener);
  const send: Send = (init) => fetch(served.url, { method: 'POST', ...init });
  return { ...served, send };
};

describe.each<[string, Kind]>([
  ['with Express', (options) => overNetwork(express().post('/hooks', createExpressHandler(options)))],
  ['with node:http', (options) => overNetwork((req, res) => void createExpressHandler(options)(req, res))],
  [
    'with fetch',
    (options) => {
      const handler = createFetchHandler(options);
      const send: Send = (init) => handler(new Request('https://me.example/hooks?for=me', { method: 'POST', ...init }));
      return Promise.resolve({ send, [Symbol.asyncDispose]: () => Promise.resolve() });
    },
  ],
])('%s', (kind, start) => {
  test('a delivery is handled once, and a repeat is answered 2xx without it', async () => {
    const { handled, errors, options } = spy();
    await using receiver = await start(options);
    const first = await receiver.send({ headers: sign(), body: BODY });
    const repeat = await receiver.send({ headers: sign('dlv_1', { now: Date.now() + 60_000 }), body: BODY });
    expect([first.status, await first.json()]).toEqual([200, { status: 'processed' }]);
    expect([repeat.status, await repeat.json()]).toEqual([200, { status: 'duplicate' }]);
    expect({ handled, errors }).toEqual({ handled: ['webhook.test dlv_1'], errors: [] });
  });

  const old = { now: Date.now() - 301_000 };
  const { 'x-service-signature': _x, ...withoutService } = sign();
  const { 'webhook-signature': _w, ...withoutStandard } = sign();
  test.each([
    ['service_signature_missing', withoutService, BODY],
    ['service_signature_missing', {}, BODY],
    ['service_signature_wrong', sign(), `${BODY} `],
    ['service_signature_wrong', { ...sign(), 'x-service-signature': 'sha256=00' }, BODY],
    ['service_signature_wrong', sign('dlv_1', { by: { current: createSigningKey(newSigningSecret()) } }), BODY],
    ['standard_headers_missing', withoutStandard, BODY],
    ['standard_signature_wrong', { ...sign(), 'webhook-signature': 'v1,AA==' }, BODY],
    ['standard_signature_wrong', { ...sign(), 'webhook-id': 'dlv_2', 'x-service-delivery': 'dlv_2' }, BODY],
    ['delivery_ids_differ', { ...sign(), 'x-service-delivery': 'dlv_2' }, BODY],
    ['timestamp_out_of_tolerance', sign('dlv_1', old), BODY],
  ])('%s is answered 401, told, and handled by nobody', async (error, headers, body) => {
    const { handled, errors, refusals, options } = spy();
    await using receiver = await start(options);
    const answer = await receiver.send({ headers, body });
    expect([answer.status, await answer.json()]).toEqual([401, { error, detail: expect.any(String) as string }]);
    expect({ handled, errors }).toEqual({ handled: [], errors: [] });
    const deliveryId = (headers as Record<string, string | undefined>)['x-service-delivery'];
    expect(refusals).toEqual([
      {
        reason: error,
        detail: expect.stringMatching(/./) as string,
        status: 401,
        path: '/hooks?for=me',
        ...(deliveryId !== undefined && { deliveryId }),
      },
    ]);
  });

  test('what onRefused throws goes to onError, and the request stays refused', async () => {
    const broken = new Error('no log');
    const { errors, options } = spy({
      onRefused: () => {
        throw broken;
      },
    });
    await using receiver = await start(options);
    expect((await receiver.send({ headers: sign(), body: `${BODY} ` })).status).toBe(401);
    expect(errors).toEqual([broken]);
  });

  test('a handler that throws frees the delivery for the next try', async () => {
    const failures = [new Error('disk full')];
    const { errors, options } = spy({
      handle: () => {
        const failure = failures.shift();
        if (failure) throw failure;
      },
    });
    await using receiver = await start(options);
    const statuses = [];
    for (let count = 0; count < 3; count++) {
      const answer = await receiver.send({ headers: sign(), body: BODY });
      statuses.push([answer.status, Object.values((await answer.json()) as object)[0]]);
    }
    expect(statuses).toEqual([
      [500, 'receiver_failed'],
      [200, 'processed'],
      [200, 'duplicate'],
    ]);
    expect(errors).toEqual([new Error('disk full')]);
  });

  test('while it is being handled a repeat is answered 409, and never 2xx', async () => {
    const held = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    const { options } = spy({
      handle: () => {
        begun.resolve(undefined);
        return held.promise;
      },
    });
    await using receiver = await start(options);
    const first = receiver.send({ headers: sign(), body: BODY });
    await begun.promise;
    const repeat = await receiver.send({ headers: sign(), body: BODY });
    expect(repeat.status).toBe(409);
    expect(repeat.headers.get('retry-after')).toBeNull(); // Herald would hold back all that goes to this host
    held.resolve(undefined);
    expect((await first).status).toBe(200);
  });

  test('a store that fails answers 500 and handles nothing', async () => {
    const broken = new Error('no connection');
    const { handled, errors, options } = spy({ store: { claim: () => Promise.reject(broken) } });
    await using receiver = await start(options);
    expect((await receiver.send({ headers: sign(), body: BODY })).status).toBe(500);
    expect({ handled, errors }).toEqual({ handled: [], errors: [broken] });
  });

  test('what was handled is answered 2xx, also when the store can no longer take it down', async () => {
    const broken = new Error('no connection');
    const fail = () => Promise.reject(broken);
    const store = { claim: () => Promise.resolve({ kind: 'claimed', complete: fail, release: fail } as const) };
    const { handled, errors, options } = spy({ store });
    await using receiver = await start(options);
    expect((await receiver.send({ headers: sign(), body: BODY })).status).toBe(200);
    expect({ handled, errors }).toEqual({ handled: ['webhook.test dlv_1'], errors: [broken] });
  });

  test('a signed body that is no event is answered 400 with what is wrong', async () => {
    const { handled, refusals, options } = spy();
    await using receiver = await start(options);
    const body = '{"event":"task.done","id":"trn_1"}';
    const answer = await receiver.send({ headers: sign('dlv_1', { body }), body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: 'event_format',
      detail: expect.stringContaining('created_at') as string,
    });
    expect(refusals).toMatchObject([{ reason: 'event_format', status: 400 }]);
    expect(handled).toEqual([]);
  });

  test('a body beyond the limit is answered 413, and one at the limit is taken', async () => {
    const { handled, options } = spy({ limitBytes: BODY.length });
    await using receiver = await start(options);
    const body = `${BODY} `;
    expect((await receiver.send({ headers: sign('dlv_1', { body }), body })).status).toBe(413);
    expect((await receiver.send({ headers: sign('dlv_2'), body: BODY })).status).toBe(200);
    expect(handled).toEqual(['webhook.test dlv_2']);
  });

  test('secrets may be found by the path, and nobody there means 401', async () => {
    const seen: string[] = [];
    const found = [[], SECRET];
    const { options } = spy({
      secrets: ({ path }) => {
        seen.push(path);
        return Promise.resolve(found.shift() ?? '');
      },
    });
    await using receiver = await start(options);
    expect((await receiver.send({ headers: sign(), body: BODY })).status).toBe(401);
    expect((await receiver.send({ headers: sign(), body: BODY })).status).toBe(200);
    expect((await receiver.send({ headers: sign(), body: BODY })).status).toBe(500); // an empty secret is a fault of ours
    expect(seen).toEqual(['/hooks?for=me', '/hooks?for=me', '/hooks?for=me']);
  });

  test('during a rotation both secrets together verify, and each signature mode asks for its own', async () => {
    const by = { ...keys, previous: createSigningKey(newSigningSecret()) };
    const statusOf = async (more: Partial<ReceiverOptions>) => {
      await using receiver = await start(spy(more).options);
      return (await receiver.send({ headers: sign('dlv_1', { by }), body: BODY })).status;
    };
    expect(await statusOf({ secrets: SECRET })).toBe(401);
    expect(await statusOf({ secrets: SECRET, signatures: 'standard' })).toBe(200);
    expect(await statusOf({ secrets: SECRET, signatures: 'service' })).toBe(401);
  });

  test('with the standard signature alone, the signed delivery id is what counts', async () => {
    const { handled, options } = spy({ signatures: 'standard' });
    await using receiver = await start(options);
    for (const plainId of ['dlv_8', 'dlv_9']) {
      const headers = { ...sign(), 'x-service-delivery': plainId };
      expect((await receiver.send({ headers, body: BODY })).status).toBe(200);
    }
    expect(handled).toEqual(['webhook.test dlv_1']);
  });

  test('with the service signature alone, the plain delivery id is what counts', async () => {
    const { handled, options } = spy({ signatures: 'service' });
    await using receiver = await start(options);
    const { 'x-service-signature': signature = '' } = sign();
    const headers = { 'x-service-signature': signature, 'x-service-delivery': 'dlv_9' };
    expect((await receiver.send({ headers, body: BODY })).status).toBe(200);
    expect((await receiver.send({ headers: { 'x-service-signature': signature }, body: BODY })).status).toBe(401);
    expect(handled).toEqual(['webhook.test dlv_9']);
  });

  test('another method is none of its business', async () => {
    const { options } = spy();
    await using receiver = await start(options);
    expect((await receiver.send({ method: 'PUT', headers: sign(), body: BODY })).status).toBe(
      kind === 'with Express' ? 404 : 405,
    );
  });
});

describe('behind a body parser', () => {
  const statusBehind = async (options: ReceiverOptions, ...parsers: RequestHandler[]) => {
    await using served = await serve(express().use(...parsers, createExpressHandler(options)));
    const headers = { ...sign(), 'content-type': 'application/json' };
    return (await fetch(served.url, { method: 'POST', headers, body: BODY })).status;
  };

  test('that left nothing of the body, the error says what to change', async () => {
    const { handled, errors, options } = spy();
    expect(await statusBehind(options, express.json())).toBe(500);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('before express.json()') as string }),
    ]);
    expect(handled).toEqual([]);
  });

  test('that kept the bytes, these are verified', async () => {
    const keep = express.json({
      verify: (req, _res, bytes) => {
        Object.assign(req, { rawBody: bytes });
      },
    });
    expect(await statusBehind(spy().options, express.raw({ type: '*/*' }))).toBe(200);
    expect(await statusBehind(spy().options, keep)).toBe(200);
    expect(await statusBehind(spy({ limitBytes: 10 }).options, express.raw({ type: '*/*' }))).toBe(413);
  });

  test('that doesn’t care for this type of body, it works', async () => {
    expect(await statusBehind(spy().options, express.urlencoded())).toBe(200);
  });

  test('fetch requests that were read say the same', async () => {
    const { errors, options } = spy();
    const request = new Request('https://me.example/', { method: 'POST', headers: sign(), body: BODY });
    await request.text();
    expect((await createFetchHandler(options)(request)).status).toBe(500);
    expect(errors).toHaveLength(1);
  });
});

test('a body without a length is cut off at the limit', async () => {
  const { options } = spy({ limitBytes: 1_000 });
  await using served = await serve((req, res) => void createExpressHandler(options)(req, res));
  const endless = new ReadableStream<Uint8Array>({
    pull: (to) => {
      to.enqueue(Buffer.alloc(600, ' '));
    },
  });
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const lines = Object.entries(sign()).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST / HTTP/1.1\r\nhost: me\r\n${lines.join('')}transfer-encoding: chunked\r\n\r\n`);
  socket.write(`400\r\n${' '.repeat(0x400)}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();

  const request = new Request('https://me.example/', {
    method: 'POST',
    headers: sign(),
    body: endless,
    duplex: 'half',
  });
  expect((await createFetchHandler(options)(request)).status).toBe(413);
});

test('a sender that goes away in the middle of its body is no error of the receiver', async () => {
  const { errors, handled, options } = spy();
  const over = Promise.withResolvers<undefined>();
  const handler = createExpressHandler(options);
  await using served = await serve((req, res) => {
    handler(req, res).then(() => {
      over.resolve(undefined);
    }, over.reject);
  });
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  const lines = Object.entries(sign()).map(([name, value]) => `${name}: ${value}\r\n`);
  // What it is answered all the same is read, or the connection stays.
  socket.resume().end(`POST / HTTP/1.1\r\nhost: me\r\n${lines.join('')}content-length: 100\r\n\r\n{`);
  await over.promise;
  expect({ errors, handled }).toEqual({ errors: [], handled: [] });
});

test.each<[string, object]>([
  ['secrets must not be empty', { secrets: [] }],
  ['secrets[0] is not a string', { secrets: undefined }],
  ['signatures must be one of both, standard, service', { signatures: 'none' }],
  ['limitBytes must be a whole number above 0', { limitBytes: 0 }],
  ['toleranceS must be a whole number above 0', { toleranceS: Number.NaN }],
  ['limitMs must be a whole number above 0', { limitMs: -1 }],
  ['store must have the method claim', { store: undefined }],
  ['store must have the method claim', { store: new Map() }],
  ['handle must be a function', { handle: undefined }],
  ['onError must be a function', { onError: 'log' }],
  ['onRefused must be a function', { onRefused: {} }],
  ['now must be a function', { now: 5 }],
])('a set-up that can’t work is refused at once: %s', (message, change) => {
  const options = { ...spy().options, ...change };
  expect(() => createExpressHandler(options)).toThrow(message);
  expect(() => createFetchHandler(options)).toThrow(message);
});
