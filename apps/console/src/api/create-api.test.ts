import { createApi, type ApiRequest } from './create-api.ts';

/** An API that is answered with this, and what it was asked. */
function createPair(answer: () => Response | Promise<Response>) {
  const asked: ApiRequest[] = [];
  const api = createApi((request) => {
    asked.push(request);
    return Promise.resolve().then(answer);
  });
  return { api, asked };
}

const problem = { status: 409, code: 'receiver_locked', detail: 'locked', requestId: 'req_1' };

test('a call has its path, its query, its headers and its body, and returns the answer', async () => {
  const { api, asked } = createPair(() => Response.json({ id: 'dlv_1' }));
  const { signal } = new AbortController();
  const query = { status: 'failed', limit: 50, cursor: undefined, errorCode: 'a b&c' } as never;
  await api.GET('/api/public/webhooks/{id}/deliveries', { params: { path: { id: 'wh/1?' }, query }, signal });
  const header = { 'Idempotency-Key': 'k1' };
  const body = { since: '2026-01-01T00:00:00Z' };
  const replay = api.POST('/api/public/webhooks/{id}/replay', {
    params: { path: { id: 'wh_1' }, header },
    body,
  });
  await expect(replay).resolves.toEqual({ id: 'dlv_1' });
  await api.GET('/api/public/webhooks');
  expect(asked).toEqual([
    {
      method: 'GET',
      path: '/api/public/webhooks/wh%2F1%3F/deliveries?status=failed&limit=50&errorCode=a+b%26c',
      headers: {},
      body: null,
      signal,
    },
    {
      method: 'POST',
      path: '/api/public/webhooks/wh_1/replay',
      headers: { 'content-type': 'application/json', 'Idempotency-Key': 'k1' },
      body: JSON.stringify(body),
      signal: undefined,
    },
    { method: 'GET', path: '/api/public/webhooks', headers: {}, body: null, signal: undefined },
  ]);
});

test('a refusal is a problem, with what it says and when to ask again', async () => {
  const { api } = createPair(() => Response.json(problem, { status: 409, headers: { 'retry-after': '3' } }));
  await expect(api.GET('/api/public/webhooks')).rejects.toMatchObject({
    name: 'ApiProblem',
    message: 'locked',
    status: 409,
    code: 'receiver_locked',
    requestId: 'req_1',
    retryAfterMs: 3_000,
  });
});

test.each([
  ['a page of a proxy', () => new Response('<p>Bad Gateway', { status: 502 }), 502],
  ['a page where the API should be', () => new Response('<p>Welcome'), 200],
  ['an empty answer', () => new Response(null, { status: 204 }), 204],
])('%s is a problem as well', async (_what, answer, status) => {
  const { api } = createPair(answer);
  await expect(api.GET('/api/public/webhooks')).rejects.toMatchObject({
    name: 'ApiProblem',
    message: `The service answered ${status}.`,
    code: 'unknown',
  });
});

test('no answer, and one that breaks off, mean that the service is away', async () => {
  const none = createPair(() => Promise.reject(new TypeError('connection refused')));
  await expect(none.api.GET('/api/public/webhooks')).rejects.toMatchObject({ name: 'ApiAway' });
  const broken = new ReadableStream({
    pull: (controller) => {
      controller.error(new TypeError('terminated'));
    },
  });
  const half = createPair(() => new Response(broken));
  await expect(half.api.GET('/api/public/webhooks')).rejects.toMatchObject({
    name: 'ApiAway',
    message: 'TypeError: terminated',
  });
});
