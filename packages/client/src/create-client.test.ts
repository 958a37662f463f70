import { ConnectionError, createExecutorClient, createTenantClient, ProblemError } from './index.ts';

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
