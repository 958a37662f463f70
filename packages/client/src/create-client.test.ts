import {
  ConnectionError,
  createExecutorClient,
  createTenantClient,
  DeadlineError,
  ProblemError,
  type ClientOptions,
} from './index.ts';

type Sent = { method: string; url: string; body: unknown; headers: Headers };

/** A service that answers each request with the next of these, as JSON; the last one stays. */
function createService(...answers: readonly unknown[]) {
  const sent: Sent[] = [];
  const fetch = (url: string, { method = '', body, headers }: RequestInit) => {
    sent.push({ method, url, body, headers: new Headers(headers) });
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    return Promise.resolve(answer instanceof Response ? answer : Response.json(answer));
  };
  return { sent, options: { baseUrl: 'https://herald.test/', key: 'hrld_1', fetch } };
}

const ID = 'task_01kes8t4a0q3m1y5b9z7x2c6vd';

test('a call sends its path, query, body and key as the operation has them', async () => {
  const { sent, options } = createService({ id: ID }, { deliveries: [], nextCursor: null }, { deleted: true });
  const herald = createTenantClient(options);
  await expect(herald.createTask({ body: { input: { a: 1 } } })).resolves.toEqual({ id: ID });
  await herald.listDeliveries({ query: { status: 'failed', limit: 5 } });
  await herald.removeReceiver({ path: { id: 'wh_a/b' } });
  expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', 'https://herald.test/tasks', '{"input":{"a":1}}'],
    ['GET', 'https://herald.test/api/public/deliveries?status=failed&limit=5', null],
    ['DELETE', 'https://herald.test/api/public/webhooks/wh_a%2Fb', null],
  ]);
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(Array(3).fill('Bearer hrld_1'));
  expect(sent[0]?.headers.get('content-type')).toBe('application/json');
});

test('the key may be found for each call', async () => {
  const { sent, options } = createService({ webhooks: [], events: [] });
  const tokens = ['hrlp_1', 'hrlp_2'];
  const herald = createTenantClient({ ...options, key: () => Promise.resolve(tokens.shift() ?? '') });
  await herald.listReceivers();
  await herald.listReceivers();
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer hrlp_1', 'Bearer hrlp_2']);
});

test('every POST has an Idempotency-Key of its own, which its repeats share; no other call has one', async () => {
  const away = () => Response.json({ code: 'unavailable' }, { status: 503 });
  const { sent, options } = createService(away(), { id: ID }, { id: ID }, { id: ID }, { webhooks: [] }, {});
  const herald = createTenantClient(options);
  await herald.createTask();
  await herald.createTask();
  await herald.createTask({ idempotencyKey: 'order-7' });
  await herald.listReceivers();
  await herald.createTask({ idempotencyKey: false });
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
  expect(keys).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    keys[0],
    expect.stringMatching(/^[0-9a-f]{32}$/),
    'order-7',
    null,
    null,
  ]);
  expect(keys[2]).not.toBe(keys[0]);
});

test('a POST without a key is not repeated, unless it reports facts', async () => {
  const away = () => Response.json({ code: 'unavailable' }, { status: 503 });
  const tenant = createService(away(), {});
  const call = createTenantClient(tenant.options).createTask({ idempotencyKey: false });
  await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  expect(tenant.sent).toHaveLength(1);
  const executor = createService(away(), { duplicate: false });
  const path = { id: ID };
  await createExecutorClient(executor.options).reportTransition({
    path,
    body: { type: 'start' },
    idempotencyKey: false,
  });
  expect(executor.sent).toHaveLength(2);
});

test('a list is one page when it is awaited, and every item when it is iterated, also past an empty page', async () => {
  const pages = [
    { deliveries: [{ id: 'a' }, { id: 'b' }], nextCursor: 'c1' },
    { deliveries: [], nextCursor: 'c2' },
    { deliveries: [{ id: 'c' }], nextCursor: null },
  ];
  const { sent, options } = createService(...pages);
  const ids: string[] = [];
  for await (const { id } of createTenantClient(options).listDeliveries({ query: { status: 'failed' } })) ids.push(id);
  expect(ids).toEqual(['a', 'b', 'c']);
  expect(sent.map(({ url }) => new URL(url).search)).toEqual([
    '?status=failed',
    '?status=failed&cursor=c1',
    '?status=failed&cursor=c2',
  ]);
  await expect(createTenantClient(createService(...pages).options).listDeliveries()).resolves.toEqual(pages[0]);
});

test('who stops iterating asks for no more pages', async () => {
  const { sent, options } = createService({ tasks: [{ id: ID }], nextCursor: 'more' });
  for await (const task of createExecutorClient(options).listTasks({ query: { status: 'queued' } })) {
    expect(task.id).toBe(ID);
    break;
  }
  expect(sent).toHaveLength(1);
});

test('a problem is thrown with its code', async () => {
  const problem = { status: 404, code: 'task_not_found', detail: 'no such Task', requestId: 'req_1' };
  const { options } = createService(Response.json(problem, { status: 404 }));
  const failed = createTenantClient(options).readTask({ path: { id: ID } });
  await expect(failed).rejects.toBeInstanceOf(ProblemError);
  await expect(failed).rejects.toMatchObject({ code: 'task_not_found', status: 404, requestId: 'req_1' });
});

test('an answer that is no JSON is told as what it is', async () => {
  const { options } = createService(new Response('<html>Sign in</html>'));
  const failed = createTenantClient(options).listReceivers();
  await expect(failed).rejects.toBeInstanceOf(ConnectionError);
  await expect(failed).rejects.toThrow('look at baseUrl');
});

/** A client of a service that answers so, and what it was asked. */
function clientOf(answer: () => Response | Promise<Response>, more: Partial<ClientOptions> = {}) {
  const sent: (RequestInit & { url: string })[] = [];
  const fetch = (url: string, init: RequestInit) => {
    sent.push({ url, ...init });
    return Promise.resolve(answer());
  };
  return { sent, herald: createTenantClient({ baseUrl: 'https://herald.test', key: 'hrld_1', fetch, ...more }) };
}

describe('a server that is no Herald', () => {
  const redirect = (status: number) => () =>
    new Response(null, { status, headers: { location: 'https://evil.test/x' } });
  const opaque = () => Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });

  test.each<[string, () => Response, RegExp]>([
    ...[301, 302, 303, 307, 308].map((status): [string, () => Response, RegExp] => [
      `a redirect ${status}`,
      redirect(status),
      /redirects to https:\/\/evil.test\/x, which the client does not follow/,
    ]),
    ['a redirect in a browser', opaque, /redirects to elsewhere/],
    ['304', () => new Response(null, { status: 304 }), /redirects to elsewhere/],
    ['204', () => new Response(null, { status: 204 }), /answer with status 204 is empty/],
    ['an empty 200', () => new Response(''), /answer with status 200 is empty/],
    ['a page', () => new Response('<p>', { headers: { 'content-type': 'text/html' } }), /is text\/html and no JSON/],
    ['JSON that is cut short', () => new Response('{"a":', { status: 201 }), /status 201 is .* and no JSON/],
  ])('with %s gets one request, and is told as what it is', async (_what, answer, sentence) => {
    const { sent, herald } = clientOf(answer);
    const failed = herald.createTask();
    await expect(failed).rejects.toBeInstanceOf(ConnectionError);
    await expect(failed).rejects.toThrow(sentence);
    expect(sent.map(({ redirect: how }) => how)).toEqual(['manual']);
  });

  test.each<[unknown, object]>([
    [
      { errors: { a: 1 }, code: 42, detail: ['x'], requestId: 7 },
      { code: 'unknown', errors: [], requestId: undefined },
    ],
    [{ errors: [null, 5, { path: 'a' }, { path: 'b', message: 'c' }] }, { errors: [{ path: 'b', message: 'c' }] }],
    [
      { code: 'of_tomorrow', detail: 'new' },
      { code: 'of_tomorrow', message: 'new' },
    ],
    [null, { code: 'unknown', errors: [] }],
  ])('and says %j with 400 is a problem that can be read', async (json, expected) => {
    const { herald } = clientOf(() => Response.json(json, { status: 400 }));
    await expect(herald.createTask()).rejects.toMatchObject({ name: 'ProblemError', status: 400, ...expected });
  });
});

describe('the pages of a list', () => {
  const listOf = async (...pages: readonly unknown[]) => {
    const left = [...pages];
    const { sent, herald } = clientOf(() => Response.json(left.length > 1 ? left.shift() : left[0]));
    const ids: string[] = [];
    let error: unknown;
    try {
      for await (const { id } of herald.listDeliveries()) ids.push(id);
    } catch (caught) {
      error = caught;
    }
    return { ids, calls: sent.length, error };
  };
  const deliveries = [{ id: 'a' }, { id: 'b' }];

  test('are read by the name of the list, whatever else a later service sends', async () => {
    const page = { warnings: [], hints: ['x'], deliveries, nextCursor: null, status: 'of tomorrow' };
    expect(await listOf(page)).toEqual({ ids: ['a', 'b'], calls: 1, error: undefined });
  });

  test.each([
    ['no cursor', 1, [{ deliveries }]],
    ['a cursor that repeats', 2, [{ deliveries, nextCursor: 'c1' }]],
    [
      'null',
      2,
      [
        { deliveries, nextCursor: 'c1' },
        { deliveries, nextCursor: null },
      ],
    ],
  ])('end with %s', async (_what, calls, pages) => {
    expect(await listOf(...pages)).toEqual({ ids: Array(calls).fill(['a', 'b']).flat(), calls, error: undefined });
  });

  test('whose older part the history does not give end with an error, after what there is', async () => {
    const { ids, error } = await listOf({ deliveries, nextCursor: null, historyUnavailable: true });
    expect(ids).toEqual(['a', 'b']);
    expect(error).toMatchObject({ name: 'ProblemError', code: 'history_unavailable', status: 503 });
  });

  test('without the list are told as what they are', async () => {
    expect((await listOf({ nextCursor: null })).error).toMatchObject({
      message: expect.stringContaining('no deliveries') as string,
    });
  });
});

describe('misuse', () => {
  const KEY = 'hrld_secret\nline';
  test.each<[string, object]>([
    ['baseUrl must be where Herald is', { baseUrl: 'herald.example.com' }],
    ['baseUrl must be where Herald is', { baseUrl: '' }],
    ['baseUrl must be where Herald is', { baseUrl: 'file:///etc' }],
    ['baseUrl must be where Herald is', { baseUrl: 'https://user:pass@herald.test' }],
    ['baseUrl must be where Herald is', { baseUrl: undefined }],
    ['the key is empty', { key: '' }],
    ['the key is no text', { key: undefined }],
    ['the key is with a space, a line end or the like', { key: KEY }],
    ['deadlineMs must be a number of ms', { deadlineMs: Number.NaN }],
    ['deadlineMs must be a number of ms', { deadlineMs: Infinity }],
    ['tryTimeoutMs must be a number of ms', { tryTimeoutMs: 0 }],
    ['fetch must be a function', { fetch: 'x' }],
  ])('of an option is named at once: %s', (sentence, change) => {
    const options = { ...createService({}).options, ...change };
    expect(() => createTenantClient(options)).toThrow(sentence);
    expect(() => createTenantClient(options)).not.toThrow('secret');
  });

  test.each<[string, string]>([
    ['', 'path.id must be an id, and not empty'],
    ['.', 'path.id must be an id'],
    ['..', 'path.id must be an id'],
  ])('of an id, %j, reaches no other operation', async (id, sentence) => {
    const { sent, herald } = clientOf(() => Response.json({}));
    await expect(herald.addMessage({ path: { id }, body: { text: 'x' } })).rejects.toThrow(sentence);
    expect(sent).toEqual([]);
  });

  test('of a call is named, and sends nothing', async () => {
    const { sent, herald } = clientOf(() => Response.json({}));
    await expect(herald.createTask({ deadlineMs: 0 })).rejects.toThrow('deadlineMs must be');
    await expect(herald.createTask({ idempotencyKey: 'a\nb' })).rejects.toThrow('idempotencyKey must be');
    await expect(herald.readTask({ path: {} as { id: string } })).rejects.toThrow('path.id must be an id');
    expect(sent).toEqual([]);
  });

  test('of a key that is found for each call is named without it', async () => {
    const { sent, herald } = clientOf(() => Response.json({}), { key: () => Promise.resolve(KEY) });
    const failed = herald.createTask();
    await expect(failed).rejects.toThrow('the key is with a space');
    await expect(failed).rejects.not.toThrow('secret');
    expect(sent).toEqual([]);
  });
});

test('the deadline and the signal cover the finding of the key', async () => {
  const { sent, herald } = clientOf(() => Response.json({}), { key: () => new Promise<string>(() => undefined) });
  await expect(herald.createTask({ deadlineMs: 5 })).rejects.toBeInstanceOf(DeadlineError);
  const controller = new AbortController();
  const failed = herald.createTask({ signal: controller.signal });
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(failed).rejects.toBe(reason);
  expect(sent).toEqual([]);
});

test('values of a query that are lists are sent each, and those that are absent are not', async () => {
  const { sent, herald } = clientOf(() => Response.json({ deliveries: [], nextCursor: null }));
  const query = { status: ['failed', 'pending'], limit: undefined, cursor: 'a b&c' };
  await herald.listDeliveries({ query: query as never });
  expect(new URL(sent[0]?.url ?? '').search).toBe('?status=failed&status=pending&cursor=a+b%26c');
});
