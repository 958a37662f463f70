import { document } from '../../support/openapi-document.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { sendRawRequests, type RawAnswer, type RawRequest } from '../../support/send-raw-requests.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

let herald: Herald;
let headersOf: Readonly<Record<string, Readonly<Record<string, string>>>>;
beforeAll(async () => {
  herald = await startHerald({ workers: 0, env: { ...OPERATOR_ENV, OPERATOR_WRITE: 'true' } });
  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://hooks.example.com/in' });
  const operator = {
    ...basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD),
    'sec-fetch-site': 'same-origin',
  };
  const path = `/api/operator/workspaces/${workspace.id}/portal-links`;
  const made = await herald.request('POST', path, { headers: operator, body: { readOnly: false } });
  const { token } = bodyOf(made, 201) as { token: string };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  headersOf = {
    operator,
    operatorLink: bearer(token),
    execute: bearer(herald.executor.key),
    platform: bearer(await herald.createKey(undefined, ['platform'])),
    webhooks: bearer(workspace.key),
    tasks: bearer(workspace.key),
    any: bearer(workspace.key),
    open: {},
  };
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Ids of a right form, of which there is nothing. */
const NOWHERE: readonly (readonly [RegExp, string])[] = [
  [/webhooks\/\{id\}/, `webhooks/wh_${'0'.repeat(26)}`],
  [/tasks\/\{id\}/, `tasks/task_${'0'.repeat(26)}`],
  [/deliveries\/\{id\}/, `deliveries/dlv_${'a'.repeat(32)}`],
  [/replays\/\{id\}/, `replays/rpl_${'0'.repeat(24)}`],
  [/portal-links\/\{\w+\}/, `portal-links/plk_${'0'.repeat(16)}`],
  [/keys\/\{\w+\}/, `keys/key_${'0'.repeat(16)}`],
  [/\{\w+\}/g, 'ws_nobody'],
];

/** Every operation of the document that takes no body, but the stream, of which a workspace has few at a time. */
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId, security = [], requestBody }]) => {
    if (requestBody || operationId === 'listenToEvents') return [];
    const [scheme, scopes] = Object.entries(security[0] ?? { open: [] })[0] ?? [];
    const who = scheme === 'apiKey' ? (scopes?.[0] ?? 'any') : (scheme ?? 'open');
    const target = NOWHERE.reduce((written, [pattern, id]) => written.replace(pattern, id), path);
    return [{ operationId, method: method.toUpperCase(), target, who }];
  }),
);

const BROKEN: readonly Pick<RawRequest, 'headers' | 'body'>[] = [
  { headers: { 'content-type': 'text/plain' }, body: 'x' },
  { headers: { 'content-type': 'application/json' }, body: '{bad' },
  { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: 'x' },
  { headers: { 'content-type': 'application/json; charset=latin1' }, body: '{}' },
  { headers: { 'transfer-encoding': 'chunked' }, body: '1\r\nx\r\n0\r\n\r\n' },
  { headers: { 'content-type': 'application/json' }, body: 'x'.repeat(300_000) },
];

/** What one comes to: its status, and the code of a problem. */
function toOutcome({ status, text }: RawAnswer): string {
  return `${status} ${/"code":"(\w+)","/.exec(status < 400 ? '' : text)?.[1] ?? ''}`;
}

test('the document has operations without a body for every kind of caller', () => {
  expect([...new Set(OPERATIONS.map(({ who }) => who))].sort()).toEqual(Object.keys(headersOf).sort());
});

test.each(OPERATIONS)('$operationId answers to any body as to none, and to the request behind it', async (each) => {
  const { method, target, who } = each;
  const plain: RawRequest = { method, target, headers: { ...headersOf[who] } };
  const broken = BROKEN.map(({ headers, ...body }) => ({
    ...plain,
    ...body,
    headers: { ...plain.headers, ...headers },
  }));
  const origin = herald.apis[0]?.origin ?? '';
  const [expected] = await sendRawRequests(origin, [plain]);
  // One behind the other on each connection: a body that is not read must not be taken for a request.
  const answers = await sendRawRequests(origin, [...broken, ...broken.map(() => plain)], 1);
  expect(expected?.status).toBeGreaterThanOrEqual(200);
  expect(answers.map(toOutcome)).toEqual(answers.map(() => expected && toOutcome(expected)));
});

test.each([
  ['no bytes in chunks', {}, '0\r\n\r\n', 201],
  ['no bytes of another type in chunks', { 'content-type': 'text/plain' }, '0\r\n\r\n', 201],
  ['bytes without a type in chunks', {}, '2\r\n{}\r\n0\r\n\r\n', 415],
  ['bytes of another type in chunks', { 'content-type': 'text/plain' }, '2\r\n{}\r\n0\r\n\r\n', 415],
  ['JSON in chunks', { 'content-type': 'application/json' }, '2\r\n{}\r\n0\r\n\r\n', 201],
])('where a body may be left out, %s count as none only if there are none', async (_what, headers, body, status) => {
  const sent = { ...headersOf.tasks, ...headers, 'transfer-encoding': 'chunked' };
  const request: RawRequest = { method: 'POST', target: '/tasks', headers: sent, body };
  const [answer] = await sendRawRequests(herald.apis[0]?.origin ?? '', [request], 1);
  expect(answer?.status).toBe(status);
});
