import { readFileSync } from 'node:fs';
import { document } from '../../support/openapi-document.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import type { HttpAnswer, RequestOptions } from '../../support/http-request.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

/** The page as one line, as its sentences are quoted below. */
const PAGE = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

let herald: Herald;
let own: WorkspaceClient;
let receiverId: string;
let taskId: string;
beforeAll(async () => {
  herald = await startHerald({ workers: 0, env: { RATE_LIMIT: '500', ...OPERATOR_ENV } });
  own = await herald.createWorkspace();
  ({ id: receiverId } = await own.registerReceiver({ url: 'https://hooks.example.com/in' }));
  ({ id: taskId } = await own.createTask({ input: 1, callback: { url: 'https://hooks.example.com/callback' } }));
  await own.createTask();
});
afterAll(() => herald[Symbol.asyncDispose]());

const anonymous = (method: string, path: string, options?: RequestOptions) => herald.request(method, path, options);
const ask = (method: string, path: string, options?: RequestOptions) => own.request(method, path, options);
const codeOf = ({ body }: HttpAnswer) => (body as { code?: string } | null)?.code;
const errorsOf = ({ body }: HttpAnswer) => (body as { errors: { path: string; message: string }[] }).errors;
const receiver = () => `/api/public/webhooks/${receiverId}`;

/** What the page says, and what a request shows of it. */
const SENTENCES: readonly (readonly [sentence: string, show: () => Promise<unknown>, shown: unknown])[] = [
  [
    'Errors are `application/problem+json`',
    async () => (await anonymous('GET', '/tasks')).headers['content-type']?.split(';')[0],
    'application/problem+json',
  ],
  [
    'What belongs to another workspace is not found: 404, never 403.',
    async () => (await (await herald.createWorkspace()).request('GET', `/tasks/${taskId}`)).status,
    404,
  ],
  [
    '`GET /openapi.json` describes the whole interface and the webhooks in OpenAPI 3.1.',
    async () => ((await anonymous('GET', '/openapi.json')).body as { openapi: string }).openapi.slice(0, 4),
    '3.1.',
  ],
  [
    '`info.version` in `/openapi.json`',
    async () => ((await anonymous('GET', '/openapi.json')).body as { info: { version: string } }).info.version !== '',
    true,
  ],
  [
    'An old name beside its new one is 422, and the answer says which to leave out.',
    async () => {
      const answer = await ask('GET', `/api/public/deliveries?receiver=${receiverId}&receiverId=${receiverId}`);
      return [answer.status, errorsOf(answer)[0]?.message.includes('receiverId')];
    },
    [422, true],
  ],
  [
    "What a PATCH can set is always in an answer, `null` while it isn't",
    async () => (await ask('GET', receiver())).body,
    expect.objectContaining({ rateLimit: null, maxRetryHours: null }),
  ],
  [
    'such as `disabledAt`, is absent from the others',
    async () => 'disabledAt' in ((await ask('GET', receiver())).body as object),
    false,
  ],
  [
    'What GET returns can be sent back with PATCH.',
    async () => {
      const { orderingTimeout: _former, ...found } = (await ask('GET', receiver())).body as Record<string, unknown>;
      return (await ask('PATCH', receiver(), { body: found })).status;
    },
    200,
  ],
  [
    'What GET returns can be sent back with PATCH.',
    async () => {
      const { callback } = (await ask('GET', `/tasks/${taskId}`)).body as { callback: Record<string, unknown> };
      const { orderingTimeout: _former, ...found } = callback;
      const answer = await ask('PATCH', `/tasks/${taskId}/callback`, { body: found });
      return [answer.status, JSON.stringify(answer.body) === JSON.stringify(callback)];
    },
    [200, true],
  ],
  [
    'The former name of a field must be left out.',
    async () => {
      const found = (await ask('GET', receiver())).body as Record<string, unknown>;
      return (await ask('PATCH', receiver(), { body: { ...found, orderingTimeoutSeconds: 60 } })).status;
    },
    422,
  ],
  [
    'Only beside a new one that stays as it was read it may stand, and changes nothing.',
    async () => (await ask('PATCH', receiver(), { body: (await ask('GET', receiver())).body })).status,
    200,
  ],
  [
    '| 204 | `OPTIONS` of `/`, `/healthz`, `/readyz` and `/errors` |',
    async () =>
      await Promise.all(
        ['/', '/healthz', '/readyz', '/errors'].map(async (path) => (await anonymous('OPTIONS', path)).status),
      ),
    [204, 204, 204, 204],
  ],
  ['a body that is no JSON', async () => (await ask('POST', '/tasks', { rawBody: '{' })).status, 400],
  [
    '| 401, 403 | no valid key; a key that may not do this |',
    async () => [
      (await anonymous('GET', '/tasks')).status,
      (await ask('GET', '/api/internal/tasks?status=done')).status,
    ],
    [401, 403],
  ],
  [
    'the path has other methods; `Allow` names them',
    async () => {
      const { status, headers } = await ask('DELETE', `/tasks/${taskId}`);
      return [status, headers.allow];
    },
    [405, 'GET, HEAD'],
  ],
  [
    'too large a body; another form than JSON in UTF-8; too large headers',
    async () => [
      (await ask('POST', '/tasks', { rawBody: JSON.stringify({ input: 'x'.repeat(300_000) }) })).status,
      (await ask('POST', '/tasks', { rawBody: 'a=1', headers: { 'content-type': 'text/plain' } })).status,
      (await ask('GET', '/tasks', { headers: { 'x-long': 'x'.repeat(20_000) } })).status,
    ],
    [413, 415, 431],
  ],
  [
    '`errors` says which, each with `path`, `pointer`, `code` and `message`',
    async () => errorsOf(await ask('POST', '/api/public/webhooks', { body: {} }))[0],
    { path: 'url', pointer: '/url', code: 'required', message: 'url is required' },
  ],
  [
    '`type` of a problem is the page that explains its code, `/errors#problems-<code>`, at the origin of the service.',
    async () => {
      const { type } = (await anonymous('GET', '/tasks')).body as { type: string };
      const [path = '', id = ''] = type.split('#');
      const page = await anonymous('GET', path, { headers: { accept: 'text/html' } });
      return [type, page.text.includes(`id="${id}"`)];
    },
    ['/errors#problems-unauthenticated', true],
  ],
  [
    'A list answers `nextCursor`. Pass it as `cursor`, with the same filters, until it is null.',
    async () => {
      const first = (await ask('GET', '/tasks?limit=1')).body as { nextCursor: string };
      const second = (await ask('GET', `/tasks?limit=1&cursor=${first.nextCursor}`)).body as { tasks: object[] };
      return second.tasks.length;
    },
    1,
  ],
  [
    'Any other is replaced.',
    async () => [
      (await anonymous('GET', '/healthz', { headers: { 'x-request-id': 'mine_1' } })).headers['x-request-id'],
      (await anonymous('GET', '/healthz', { headers: { 'x-request-id': 'a b' } })).headers['x-request-id'] === 'a b',
    ],
    ['mine_1', false],
  ],
  [
    'else no answer has CORS headers',
    async () =>
      Object.keys((await ask('GET', '/tasks', { headers: { origin: 'https://a.example.com' } })).headers).filter(
        (name) => name.startsWith('access-control'),
      ),
    [],
  ],
  [
    'One slash at the end is ignored; two, or an empty part, are 404.',
    async () => [
      (await ask('GET', '/tasks/')).status,
      (await ask('GET', '/tasks//')).status,
      (await ask('GET', '/api//public/webhooks')).status,
    ],
    [200, 404, 404],
  ],
  [
    "A field or query parameter that the operation doesn't name is an error",
    async () => [
      (await ask('POST', '/tasks', { body: { nonsense: 1 } })).status,
      (await ask('GET', '/tasks?nonsense=1')).status,
      (await ask('GET', '/tasks?limit=1&limit=1')).status,
    ],
    [422, 422, 422],
  ],
  [
    '`/healthz`, `/readyz` and `/metrics` ignore the query',
    async () => (await anonymous('GET', '/healthz?probe=1')).status,
    200,
  ],
  [
    'is refused with its normal form',
    async () =>
      errorsOf(await ask('POST', '/api/public/webhooks', { body: { url: 'https://hooks.example.com/a/../b' } }))[0]
        ?.message,
    expect.stringContaining('https://hooks.example.com/b'),
  ],
  [
    '0.30000000000000004 is accepted; 12345678901234567.89, 1e400 and 1e-400 are not.',
    async () =>
      await Promise.all(
        ['0.30000000000000004', '12345678901234567.89', '1e400', '1e-400'].map(
          async (number) => (await ask('POST', '/tasks', { rawBody: `{"input":${number}}` })).status,
        ),
      ),
    [201, 422, 422, 422],
  ],
  [
    "all integers up to 2^53 do, and few beyond (1e30 does, 9007199254740993 doesn't)",
    async () =>
      await Promise.all(
        ['9007199254740992', '1e30', '9007199254740993'].map(
          async (number) => (await ask('POST', '/tasks', { rawBody: `{"input":${number}}` })).status,
        ),
      ),
    [201, 201, 422],
  ],
  [
    'A repeated request gets the first answer, marked `Idempotency-Replayed: true`, **without the signing secret**.',
    async () => {
      const body = { url: 'https://hooks.example.com/again' };
      const register = () => ask('POST', '/api/public/webhooks', { body, headers: { 'idempotency-key': 'once' } });
      const [first, second] = [await register(), await register()];
      const { secret: _secret, ...shown } = first.body as Record<string, unknown>;
      return [JSON.stringify(second.body) === JSON.stringify(shown), second.headers['idempotency-replayed']];
    },
    [true, 'true'],
  ],
  [
    'Another body under the same key is 409 `idempotency_conflict`.',
    async () => {
      const headers = { 'idempotency-key': 'two-bodies' };
      await ask('POST', '/tasks', { headers, body: { input: 1 } });
      return codeOf(await ask('POST', '/tasks', { headers, body: { input: 2 } }));
    },
    'idempotency_conflict',
  ],
  [
    'A 4xx changes nothing and frees the key, also for a corrected body.',
    async () => {
      const headers = { 'idempotency-key': 'corrected' };
      await ask('POST', '/tasks', { headers, body: { inputs: 1 } });
      return (await ask('POST', '/tasks', { headers, body: { input: 1 } })).status;
    },
    201,
  ],
  [
    '`If-Match: *` is as none.',
    async () => (await ask('PATCH', receiver(), { body: { description: '' }, headers: { 'if-match': '*' } })).status,
    200,
  ],
  [
    'another `If-Match` is 412, too',
    async () => (await ask('POST', '/tasks', { body: {}, headers: { 'if-match': '"x"' } })).status,
    412,
  ],
  [
    'Operators sign in by HTTP Basic.',
    async () => {
      const headers = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
      return (await anonymous('GET', '/api/operator/audit', { headers })).status;
    },
    200,
  ],
  [
    'Every answer has `x-request-id`, and so have the lines of the log and the problem (`requestId`).',
    async () => {
      const { headers, body } = await anonymous('GET', '/tasks', { headers: { 'x-request-id': 'mine_2' } });
      return [headers['x-request-id'], (body as { requestId: string }).requestId];
    },
    ['mine_2', 'mine_2'],
  ],
  [
    'own: 1 to 64 letters, digits, `.`, `_` or `-`.',
    async () =>
      await Promise.all(
        ['a', `A.9_-${'a'.repeat(59)}`, 'a'.repeat(65)].map(async (id) => {
          const { headers } = await anonymous('GET', '/healthz', { headers: { 'x-request-id': id } });
          return headers['x-request-id'] === id;
        }),
      ),
    [true, true, false],
  ],
  [
    'Lists are newest first;',
    async () => {
      const { tasks } = (await ask('GET', '/tasks')).body as { tasks: { createdAt: string }[] };
      const times = tasks.map(({ createdAt }) => createdAt);
      return times.length > 1 && JSON.stringify(times) === JSON.stringify(times.toSorted().toReversed());
    },
    true,
  ],
  [
    'The first page has a `sinceCursor`: keep it, and ask for the list with it the next time',
    async () => {
      const { sinceCursor } = (await ask('GET', '/api/public/deliveries')).body as { sinceCursor: string };
      return (await ask('GET', `/api/public/deliveries?sinceCursor=${encodeURIComponent(sinceCursor)}`)).status;
    },
    200,
  ],
  [
    'A key is `hrld_`, the 16 hex digits of its id (`key_…`), `_`, 32 random characters and a checksum of six.',
    async () => await Promise.resolve(/^hrld_[0-9a-f]{16}_[A-Za-z0-9]{38}$/.test(own.key)),
    true,
  ],
  [
    '(a body of an operation that takes none is not looked at)',
    async () => {
      const { id } = await own.registerReceiver({ url: 'https://hooks.example.com/short' });
      return (await ask('DELETE', `/api/public/webhooks/${id}`, { rawBody: '{nonsense' })).status;
    },
    200,
  ],
  [
    'In a batch, only the item with the number is refused.',
    async () => {
      const [good, bad] = [await own.createTask(), await own.createTask()];
      const rawBody = `{"transitions":[{"taskId":"${bad.id}","type":"done","result":1e400},{"taskId":"${good.id}","type":"start"}]}`;
      const { body } = await herald.request('POST', '/api/internal/transitions', { key: herald.executor.key, rawBody });
      return (body as { results: { status?: string; error?: { code: string } }[] }).results.map(
        ({ status, error }) => status ?? error?.code,
      );
    },
    ['validation_failed', 'running'],
  ],
  [
    'A key has 1 to 255 visible ASCII characters, plain or in double quotes.',
    async () => {
      const create = async (key: string) =>
        await ask('POST', '/tasks', { body: {}, headers: { 'idempotency-key': key } });
      const [plain, quoted, long, longer] = [
        await create('quoted'),
        await create('"quoted"'),
        await create('k'.repeat(255)),
        await create('k'.repeat(256)),
      ];
      return [quoted.text === plain.text, quoted.headers['idempotency-replayed'], long.status, longer.status];
    },
    [true, 'true', 201, 422],
  ],
  [
    "Bodies are compared as JSON: white space and the order of keys don't matter",
    async () => {
      const headers = { 'idempotency-key': 'in-another-order' };
      await ask('POST', '/tasks', { headers, rawBody: '{"input":{"a":1,"b":2}}' });
      return (await ask('POST', '/tasks', { headers, rawBody: '{ "input": { "b": 2, "a": 1 } }' })).status;
    },
    201,
  ],
  [
    '`If-None-Match` is passed over.',
    async () => {
      const { headers } = await ask('GET', receiver());
      return (await ask('GET', receiver(), { headers: { 'if-none-match': headers.etag ?? '' } })).status;
    },
    200,
  ],
  [
    'Every answer to a key or link says in `RateLimit` what is left.',
    async () => (await ask('GET', '/tasks')).headers.ratelimit,
    expect.stringMatching(/^"api-key"; r=\d+; t=\d+$/),
  ],
];

test.each(SENTENCES)('%s', async (sentence, show, shown) => {
  expect(PAGE).toContain(sentence);
  expect(await show()).toEqual(shown);
});

const OLD_NAMES: readonly (readonly [operation: string, ask: () => Promise<HttpAnswer>, leaveOut: string])[] = [
  ...(
    [
      ['receiver', 'receiverId', 'wh_01kes8t4a0q3m1y5b9z7x2c6vd'],
      ['receiver', 'callbackId', 'cb_01kes8t4a0q3m1y5b9z7x2c6vd'],
      ['task', 'taskId', 'task_01kes8t4a0q3m1y5b9z7x2c6vd'],
    ] as const
  ).map(
    ([old, name, id]) =>
      [`listDeliveries ${old}`, () => ask('GET', `/api/public/deliveries?${old}=${id}&${name}=${id}`), old] as const,
  ),
  [
    'readActivity receiver',
    () => ask('GET', `/api/public/activity?receiver=${receiverId}&receiverId=${receiverId}`),
    'receiver',
  ],
  [
    'listAudit workspace',
    () =>
      anonymous('GET', `/api/operator/audit?workspace=${own.id}&workspaceId=${own.id}`, {
        headers: basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD),
      }),
    'workspace',
  ],
  ...(
    [
      ['RegisterReceiver', 'POST', () => '/api/public/webhooks', { url: 'https://hooks.example.com/old' }],
      ['PatchReceiver', 'PATCH', receiver, {}],
      ['PatchCallback', 'PATCH', () => `/tasks/${taskId}/callback`, {}],
    ] as const
  ).map(
    ([schema, method, path, body]) =>
      [
        `${schema} orderingTimeout`,
        () => ask(method, path(), { body: { ...body, orderingTimeout: '2h', orderingTimeoutSeconds: 7_200 } }),
        'orderingTimeout',
      ] as const,
  ),
  [
    'TaskCallback orderingTimeout',
    () => {
      const callback = { url: 'https://hooks.example.com/old', orderingTimeout: '2h', orderingTimeoutSeconds: 7_200 };
      return ask('POST', '/tasks', { body: { callback } });
    },
    'orderingTimeout',
  ],
];

test.each(OLD_NAMES)(
  '%s beside its new name is refused, and the answer says what to leave out',
  async (_name, asked, old) => {
    const answer = await asked();
    expect(answer.status).toBe(422);
    expect(errorsOf(answer)[0]?.message).toMatch(new RegExp(`leave out.*\\b${old}\\b|\\b${old}\\b.*leave`));
  },
);

test('every old name that a request may have was tried', () => {
  const { paths, components } = document as unknown as {
    paths: Record<
      string,
      Record<string, { operationId: string; parameters?: { name: string; deprecated?: boolean }[] }>
    >;
    components: {
      schemas: Record<string, { properties?: Record<string, { deprecated?: boolean }>; required?: string[] }>;
    };
  };
  const parameters = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId, parameters: all = [] }) =>
      all.flatMap(({ name, deprecated }) => (deprecated === true ? [`${operationId} ${name}`] : [])),
    ),
  );
  const requests = ['RegisterReceiver', 'PatchReceiver', 'TaskCallback', 'PatchCallback'];
  const fields = Object.entries(components.schemas).flatMap(([schema, { properties = {}, required = [] }]) =>
    Object.entries(properties).flatMap(([name, { deprecated }]) =>
      // What is deprecated in an answer is always there.
      deprecated === true && !required.includes(name) ? [`${schema} ${name}`] : [],
    ),
  );
  expect(fields.map((each) => each.split(' ')[0]).sort()).toEqual([...requests].sort());
  expect([...new Set(OLD_NAMES.map(([name]) => name))].sort()).toEqual([...parameters, ...fields].sort());
});

test('a receiver or callback that there is not is 404 in each list that is asked for its part', async () => {
  expect(PAGE).toContain('A receiver or a callback that there is not is 404 in each list');
  const names = { receiver: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd', callback: 'cb_01kes8t4a0q3m1y5b9z7x2c6vd' };
  const paths = [
    `/api/public/deliveries?receiverId=${names.receiver}`,
    `/api/public/deliveries?receiver=${names.receiver}`,
    `/api/public/deliveries?callbackId=${names.callback}`,
    `/api/public/activity?receiverId=${names.receiver}`,
    `/api/public/activity?callbackId=${names.callback}`,
    `/api/public/webhooks/${names.receiver}/deliveries`,
    `/api/public/webhooks/${names.receiver}/stats`,
    '/tasks/task_01kes8t4a0q3m1y5b9z7x2c6vd/deliveries',
  ];
  const answers = await Promise.all(paths.map(async (path) => [path, (await ask('GET', path)).status]));
  expect(answers).toEqual(paths.map((path) => [path, 404]));
});
