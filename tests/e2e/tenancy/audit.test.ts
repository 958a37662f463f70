import type { AuditEntry } from '@herald/store/access/audit-trail';
import { waitFor } from '@herald/test-kit';
import { auditTrailOf } from '../../support/audit-trail-of.ts';
import { bodyOf } from '../../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { fillPath, idsOf, OPERATIONS, type CalledOperation } from './operations.ts';
import { inhabit, type Inhabited } from './scene.ts';

/** What happens to Tasks is the work itself. It has its own records, and would push the changes out of the trail. */
const LIFE_OF_TASKS = [
  'createTask',
  'createWorkspaceTask',
  'addMessage',
  'closeTask',
  'reportTransition',
  'reportTransitions',
];

const changing = OPERATIONS.filter(({ id, method }) => method !== 'GET' && !LIFE_OF_TASKS.includes(id));
const silent = OPERATIONS.filter((each) => !changing.includes(each) && each.id !== 'listenToEvents');

let herald: Herald;
let platformKey: string;
beforeAll(async () => {
  herald = await startHerald({ env: { ...OPERATOR_ENV, OPERATOR_WRITE: 'true', TRUST_PROXY: '1' } });
  platformKey = await herald.createKey(undefined, ['platform']);
}, 60_000);
afterAll(() => herald[Symbol.asyncDispose]());

const ADDRESS = '203.0.113.7';
const OF_A_LINK = expect.stringMatching(/^plk_[0-9a-f]{16}$/) as string;
const OF_A_KEY = expect.stringMatching(/^key_[0-9a-f]{16}$/) as string;

const asOperator = {
  ...basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD),
  'sec-fetch-site': 'same-origin',
};

function keyFor(path: string, { workspace }: Inhabited): string {
  if (path.startsWith('/api/platform')) return platformKey;
  return path.startsWith('/api/internal') ? herald.executor.key : workspace.key;
}

/** Calls an operation with this token, or as the one for whom it is. */
async function call(operation: CalledOperation, scene: Inhabited, token?: string) {
  const { id, method, path } = operation;
  const { body, query = '', isOperators } = operation.call;
  const key = token ?? keyFor(path, scene);
  return await herald.request(method, fillPath(operation, idsOf(operation, scene)) + query, {
    ...(body && { body: body(scene.ids) }),
    ...(!isOperators && { key }),
    headers: { 'x-forwarded-for': ADDRESS, 'x-request-id': `of-${id}`, ...(isOperators && asOperator) },
  });
}

async function linkOfOperator({ workspace }: Inhabited): Promise<string> {
  const path = `/api/operator/workspaces/${workspace.id}/portal-links`;
  return (bodyOf(await herald.request('POST', path, { headers: asOperator }), 201) as { token: string }).token;
}

/** The entries that a call left, and its answer. */
async function entriesOf(run: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
  const trail = auditTrailOf(herald);
  const [last] = (await trail.list({ limit: 1 })).entries;
  await run();
  return (await trail.list({ limit: 10 })).entries.filter(({ id }) => last === undefined || id > last.id);
}

const keyIdOf = async (key: string) => {
  const answer = await herald.request('GET', '/api/public/webhooks', { key, headers: { 'x-request-id': 'who-is-it' } });
  bodyOf(answer, 200);
  let by: string | undefined;
  await waitFor('the log line of the key', () => {
    const line = herald
      .logs()
      .split('\n')
      .findLast((each) => each.includes('who-is-it'));
    by = line === undefined ? undefined : (JSON.parse(line) as { by?: string }).by;
    return by !== undefined;
  });
  return by;
};

test.each(changing)(
  '$id leaves one entry with its doer, and one line in the log',
  async (operation) => {
    const scene = await inhabit(herald, 'approval-of-one');
    const { isOperators, isOperatorLinks } = operation.call;
    const token = isOperatorLinks ? await linkOfOperator(scene) : undefined;
    const entries = await entriesOf(async () => {
      const answer = await call(operation, scene, token);
      expect([200, 201, 202]).toContain(answer.status);
    });
    const { OPERATOR_USER: user } = OPERATOR_ENV;
    const isPlatform = operation.path.startsWith('/api/platform');
    const byLink = isOperatorLinks
      ? { by: OF_A_LINK, user }
      : { by: OF_A_KEY, ...(isPlatform && { user: 'platform' }) };
    const doer = isOperators ? { by: 'operator', user } : byLink;
    expect(entries).toMatchObject([
      {
        ...doer,
        action: operation.id,
        workspaceId: scene.workspace.id,
        target: expect.any(String) as string,
        address: ADDRESS,
        requestId: `of-${operation.id}`,
      },
    ]);
    const lines = herald
      .logs()
      .split('\n')
      .filter((line) => line.includes('"audit.entry"') && line.includes(scene.workspace.id));
    const own = lines.filter((line) => line.includes(`"of-${operation.id}"`)).map((line) => JSON.parse(line) as object);
    const { id: _id, at: _at, fields, ...facts } = entries[0] ?? ({} as AuditEntry);
    expect(own).toMatchObject([
      { message: 'audit.entry', level: 'info', ...facts, ...(fields && { fields: fields.join(',') }) },
    ]);
  },
  30_000,
);

test('what reads, and the life of Tasks, leaves no entry', async () => {
  const scene = await inhabit(herald, 'approval-of-another');
  const entries = await entriesOf(async () => {
    for (const operation of silent) {
      const { status } = await call(operation, scene);
      expect({ id: operation.id, isDone: status < 300 }).toEqual({ id: operation.id, isDone: true });
    }
  });
  expect(entries).toEqual([]);
}, 30_000);

test('a change by a portal link names the link, and one that was refused leaves nothing', async () => {
  const scene = await inhabit(herald, 'approval-of-a-third');
  const made = async (readOnly: boolean) => {
    const body = { readOnly };
    return bodyOf(await scene.workspace.request('POST', '/api/public/portal-links', { body }), 201) as {
      token: string;
    };
  };
  const [writing, reading] = [await made(false), await made(true)];
  const change = OPERATIONS.find(({ id }) => id === 'changeReceiver');
  if (!change) throw new Error('receivers can be changed');
  const entries = await entriesOf(async () => {
    expect((await call(change, scene, reading.token)).status).toBe(403);
    expect((await call(change, scene, writing.token)).status).toBe(200);
  });
  expect(entries).toMatchObject([
    {
      by: OF_A_LINK,
      action: 'changeReceiver',
      target: scene.ids.receiver,
      fields: ['description', 'enabled'],
    },
  ]);
}, 30_000);

test('the answer to a request says in the log which key it came with', async () => {
  const { key } = await herald.createWorkspace();
  expect(await keyIdOf(key)).toMatch(/^key_[0-9a-f]{16}$/);
});

test('a repeated request with an Idempotency-Key leaves one entry', async () => {
  const { workspace } = await inhabit(herald, 'approval-of-a-fourth');
  const register = async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = { url: 'https://hooks.example.com/once' };
    return await workspace.request('POST', '/api/public/webhooks', { headers, body });
  };
  const entries = await entriesOf(async () => {
    expect([(await register()).status, (await register()).status]).toEqual([201, 201]);
  });
  expect(entries).toMatchObject([{ action: 'registerReceiver' }]);
}, 30_000);
