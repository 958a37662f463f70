import { bodyOf, type HttpAnswer } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import type { WorkspaceClient } from '../support/workspace-client.ts';

let herald: Herald;
let workspace: WorkspaceClient;
beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());
beforeEach(async () => {
  workspace = await herald.createWorkspace();
});

type Fields = Readonly<Record<string, unknown>>;
const PATH = '/api/public/webhooks';
const url = 'https://hooks.example.com/in';
const register = async (body: object = { url }) => {
  const answer = await workspace.request('POST', PATH, { body });
  return { answer, receiver: bodyOf(answer, 201) as Fields & { id: string } };
};
const read = (id: string) => workspace.request('GET', `${PATH}/${id}`);
const patch = (id: string, body: object, headers: Record<string, string> = {}) =>
  workspace.request('PATCH', `${PATH}/${id}`, { body, headers });
const etagOf = ({ headers }: HttpAnswer) => String(headers.etag);

describe('a tool that keeps receivers as a file says', () => {
  /** What the file may say of each field, one after the other. Each is another than before. */
  const WANTED: Readonly<Record<string, readonly unknown[]>> = {
    url: ['https://hooks.example.com/other', 'HTTPS://hooks.example.com/other?a=b'],
    events: [['task.done'], [], ['task.check_in', 'webhook.test']],
    description: ['Billing, production', '', ' with blanks '],
    enabled: [false, true],
    ordering: ['task', 'none'],
    orderingTimeoutSeconds: [60, 172_800, 86_401],
    rateLimit: [{ perSecond: 5 }, null],
    maxRetryHours: [1, 120, null],
  };

  /** The fields in which what is there differs from what the file says. */
  const planFor = (wanted: Fields, found: Fields) =>
    Object.keys(wanted).filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(found[name]));

  test.each(Object.entries(WANTED))('finds no difference in %s once it has applied it', async (name, values) => {
    const { receiver } = await register();
    for (const value of values) {
      const wanted = { [name]: value };
      const before = bodyOf(await read(receiver.id), 200) as Fields;
      // All that was read goes back with the change, but for the former name of a field.
      const { orderingTimeout: _text, ...rest } = before;
      const applied = bodyOf(await patch(receiver.id, { ...rest, ...wanted }), 200) as Fields;
      expect({ value, plan: planFor(wanted, applied) }).toEqual({ value, plan: [] });
      const after = bodyOf(await read(receiver.id), 200) as Fields;
      expect({ value, plan: planFor(wanted, after) }).toEqual({ value, plan: [] });
      // A second run changes nothing, the ETag included.
      const again = await patch(receiver.id, wanted);
      expect(bodyOf(again, 200)).toEqual(after);
      expect(etagOf(again)).toBe(etagOf(await read(receiver.id)));
    }
  });

  test('may send back all that it has read of a receiver, and of a callback, and changes nothing', async () => {
    const { answer, receiver } = await register();
    const before = bodyOf(await read(receiver.id), 200) as Fields;
    expect(before).toHaveProperty('orderingTimeout');
    const sent = await patch(receiver.id, before, { 'if-match': etagOf(answer) });
    expect([bodyOf(sent, 200), etagOf(sent)]).toEqual([before, etagOf(answer)]);

    const { id, callback } = await workspace.createTask({ callback: { url: 'https://hooks.example.com/task' } });
    const path = `/tasks/${id}/callback`;
    const { secret: _secret, ...shown } = callback as Fields;
    expect(bodyOf(await workspace.request('PATCH', path, { body: shown }), 200)).toEqual(shown);
    const other = { ...shown, orderingTimeoutSeconds: 60 };
    expect(problemOf(await workspace.request('PATCH', path, { body: other }))).toMatchObject({
      status: 422,
      errors: [{ path: 'orderingTimeout', code: 'conflict' }],
    });
  });

  test('finds no difference in what it has registered', async () => {
    const wanted = Object.fromEntries(Object.entries(WANTED).map(([name, [value]]) => [name, value]));
    const { receiver } = await register(wanted);
    expect(planFor(wanted, receiver)).toEqual([]);
    expect(planFor(wanted, bodyOf(await read(receiver.id), 200) as Fields)).toEqual([]);
  });

  test('has every field of a receiver that can be set', async () => {
    const { receiver } = await register();
    const answer = await patch(receiver.id, { nothing: 1 });
    const known = /known are ([\w, ]+)/.exec(JSON.stringify(answer.body))?.[1]?.split(', ') ?? [];
    const readOnly = [
      'id',
      'createdAt',
      'health',
      'disabledAt',
      'disabledReason',
      'disabledBy',
      'lockedReason',
      'pausedAt',
      'pausedReason',
      'secretOverlapEndsAt',
      'warnings',
    ];
    // The values of headers are never shown, so no tool can compare them. `orderingTimeout` is deprecated, because it
    // doesn't read back as it was given.
    const others = ['headerNames', 'headers', 'orderingTimeout'];
    const settable = known.filter((name) => ![...readOnly, ...others].includes(name));
    expect(settable.sort()).toEqual(Object.keys(WANTED).sort());
  });
});

test('every answer with one receiver has an ETag, which changes with what can be set and with nothing else', async () => {
  const { answer, receiver } = await register();
  const first = etagOf(answer);
  expect(first).toMatch(/^"[0-9a-f]{40}"$/);
  expect(etagOf(await read(receiver.id))).toBe(first);
  bodyOf(await workspace.request('POST', `${PATH}/${receiver.id}/secret/rotate`, { body: {} }), 200);
  expect(etagOf(await read(receiver.id))).toBe(first);
  const seen = new Set([first]);
  for (const change of [
    { description: 'a' },
    { enabled: false },
    { headers: { 'x-a': '1' } },
    { headers: { 'x-a': '2' } },
  ]) {
    seen.add(etagOf(await patch(receiver.id, change)));
  }
  expect(seen.size).toBe(5);
});

test('of two who change what they have read, the second is refused and changes nothing', async () => {
  const { answer, receiver } = await register();
  const ifMatch = { 'if-match': etagOf(answer) };
  const [mine, theirs] = await Promise.all([
    patch(receiver.id, { events: ['task.done'] }, ifMatch),
    patch(receiver.id, { events: ['task.canceled'] }, ifMatch),
  ]);
  const [done, refused] = mine.status === 200 ? [mine, theirs] : [theirs, mine];
  expect(problemOf(refused)).toMatchObject({
    status: 412,
    code: 'precondition_failed',
    detail: `${receiver.id} is not what If-Match names: it was changed since you read it; read it again, and send the ETag of that answer`,
  });
  expect(bodyOf(await read(receiver.id), 200)).toEqual(bodyOf(done, 200));
  const removal = (headers: Record<string, string>) =>
    workspace.request('DELETE', `${PATH}/${receiver.id}`, { headers });
  expect(problemOf(await removal(ifMatch)).status).toBe(412);
  expect((await removal({ 'if-match': etagOf(done) })).status).toBe(200);
});

test('If-Match takes a star, several tags and a tag that a proxy has weakened, and no other', async () => {
  const { answer, receiver } = await register();
  const tag = etagOf(answer);
  // They change nothing.
  for (const good of ['*', tag, `"x", ${tag}`, `W/${tag}`, ` ${tag} `])
    expect((await patch(receiver.id, { description: '' }, { 'if-match': good })).status).toBe(200);
  for (const bad of ['"nope"', 'nope', tag.slice(1, -1), '"x", "y"', `"${tag}"`])
    expect((await patch(receiver.id, { description: '' }, { 'if-match': bad })).status).toBe(412);
  const missing = await patch('wh_01kes8t4a0q3m1y5b9z7x2c6vd', { description: '' }, { 'if-match': '*' });
  expect(missing.status).toBe(404);
});

test('where nothing has an ETag, If-Match is refused rather than passed over', async () => {
  const headers = { 'if-match': '"nope"' };
  const { receiver } = await register();
  const answers = [
    await workspace.request('POST', '/tasks', { body: {}, headers }),
    await workspace.request('POST', `${PATH}/${receiver.id}/secret/rotate`, { body: {}, headers }),
  ];
  for (const answer of answers) expect(problemOf(answer)).toMatchObject({ status: 412, code: 'precondition_failed' });
  expect((await workspace.request('POST', '/tasks', { body: {}, headers: { 'if-match': '*' } })).status).toBe(201);
  expect((await workspace.request('GET', PATH, { headers })).status).toBe(200);
});

test('a PATCH that is repeated under its Idempotency-Key has its effect once, also with If-Match', async () => {
  const { answer, receiver } = await register();
  const headers = { 'idempotency-key': 'change-7', 'if-match': etagOf(answer) };
  const first = await patch(receiver.id, { description: 'mine' }, headers);
  bodyOf(await patch(receiver.id, { description: 'of another' }), 200);
  const again = await patch(receiver.id, { description: 'mine' }, headers);
  expect([bodyOf(again, 200), etagOf(again)]).toEqual([bodyOf(first, 200), etagOf(first)]);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(bodyOf(await read(receiver.id), 200)).toMatchObject({ description: 'of another' });
  const other = await patch(receiver.id, { description: 'something else' }, headers);
  expect(problemOf(other).code).toBe('idempotency_conflict');
});
