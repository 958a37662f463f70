import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createConsoleLink } from '../../scripts/local/create-console-link.ts';
import { auditTrailOf } from '../support/audit-trail-of.ts';
import { bodyOf } from '../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../support/operator-client.ts';
import { problemOf } from '../support/problems.ts';
import { runCli } from '../support/run-cli.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import type { WorkspaceClient } from '../support/workspace-client.ts';

const LINKS = '/api/public/portal-links';
const SHARDS = '3';

interface MadeLink {
  id: string;
  url: string;
  token: string;
  expiresAt: string;
  readOnly: boolean;
}
interface ListedLink {
  id: string;
  createdAt: string;
  expiresAt: string;
  readOnly: boolean;
  createdBy: string;
}

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 0, env: { ...OPERATOR_ENV, SHARDS } });
});
afterAll(() => herald[Symbol.asyncDispose]());

const make = async (workspace: WorkspaceClient, body: object = {}) =>
  bodyOf(await workspace.request('POST', LINKS, { body }), 201) as MadeLink;
const list = async (workspace: WorkspaceClient) =>
  (bodyOf(await workspace.request('GET', LINKS), 200) as { portalLinks: ListedLink[] }).portalLinks;
const end = (workspace: WorkspaceClient, id: string) => workspace.request('DELETE', `${LINKS}/${id}`);
/** What every API process answers to a token. */
const statuses = (token: string) => Promise.all(herald.apis.map(async (via) => (await read(token, via)).status));
const read = (key: string, via?: (typeof herald.apis)[number]) =>
  herald.request('GET', '/api/public/webhooks', { key, ...(via && { via }) });
const links = (...args: readonly string[]) => runCli(['links', ...args], { ...herald.topology.env, SHARDS });
const keyIdOf = async ({ key }: WorkspaceClient) =>
  (await createApiKeyStore({ redis: herald.redis, now: Date.now }).find(key))?.id;

async function makeAsOperator({ id }: WorkspaceClient): Promise<MadeLink> {
  const { OPERATOR_USER: user, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
  const headers = { ...basic(user, password), 'sec-fetch-site': 'same-origin' };
  return bodyOf(
    await herald.request('POST', `/api/operator/workspaces/${id}/portal-links`, { headers }),
    201,
  ) as MadeLink;
}

test('a link has an id, and the list shows the newest first, with those of operators, and never a token', async () => {
  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://a.example.com/' });
  expect(await list(workspace)).toEqual([]);
  const first = await make(workspace, { readOnly: true, expiresInSeconds: 60 });
  const second = await makeAsOperator(workspace);
  const answer = await workspace.request('GET', LINKS);
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  expect(answer.body).toEqual({
    portalLinks: [
      { id: second.id, createdAt: at, expiresAt: second.expiresAt, readOnly: true, createdBy: 'operator' },
      { id: first.id, createdAt: at, expiresAt: first.expiresAt, readOnly: true, createdBy: await keyIdOf(workspace) },
    ],
  });
  expect(first.id).toMatch(/^plk_[0-9a-f]{16}$/);
  for (const { token } of [first, second]) expect(answer.text).not.toContain(token.slice(5, 20));
  expect(answer.text).not.toMatch(/hrlp_|console/);
});

test('whoever ends a link ends it at once in every process, and leaves one entry in the trail; an operator’s too', async () => {
  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://a.example.com/' });
  const [one, other] = [await make(workspace), await makeAsOperator(workspace)];
  for (const { id, token } of [one, other]) {
    expect(await statuses(token)).toEqual([200, 200]);
    const answer = await end(workspace, id);
    expect([answer.status, answer.body]).toEqual([200, { deleted: true }]);
    expect(await statuses(token)).toEqual([401, 401]);
    expect(problemOf(await read(token)).detail).toMatch(/^this link has ended/);
    expect(problemOf(await end(workspace, id))).toMatchObject({ status: 404, code: 'portal_link_not_found' });
  }
  expect(await list(workspace)).toEqual([]);
  const { entries } = await auditTrailOf(herald, 3).list({ workspaceId: workspace.id, limit: 10 });
  const by = await keyIdOf(workspace);
  expect(entries.filter(({ action }) => action === 'revokePortalLink')).toMatchObject([
    { by, target: other.id, workspaceId: workspace.id },
    { by, target: one.id },
  ]);
  expect(entries.find(({ action }) => action === 'createPortalLink')).toMatchObject({ by, target: one.id });
});

test.each([
  ['nobody has', 'plk_0000000000000000'],
  ['is none', 'plk_1'],
  ['is that of another thing', 'wh_01kes8t4a0q3m1y5b9z7x2c6vd'],
])('an id that %s is not found', async (_what, id) => {
  const workspace = await herald.createWorkspace();
  expect(problemOf(await end(workspace, id))).toMatchObject({ status: 404, code: 'portal_link_not_found' });
});

test('a token in the place of an id is not found, not shown, and not ended', async () => {
  const workspace = await herald.createWorkspace();
  const { token } = await make(workspace);
  const answer = await end(workspace, token);
  expect(problemOf(answer).code).toBe('portal_link_not_found');
  expect(answer.text + herald.logs()).not.toContain(token);
  expect(await statuses(token)).toEqual([200, 200]);
});

test('a link may neither list nor end links, not even itself', async () => {
  const workspace = await herald.createWorkspace();
  const { id, token: key } = await make(workspace);
  for (const [method, path] of [
    ['GET', LINKS],
    ['DELETE', `${LINKS}/${id}`],
  ] as const) {
    expect(problemOf(await herald.request(method, path, { key })).code).toBe('insufficient_scope');
  }
  expect(await statuses(key)).toEqual([200, 200]);
});

test('a hundred links live at a time, also when more are asked for at once; each that ends makes room', async () => {
  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://a.example.com/' });
  const answers = await Promise.all(
    herald.apis.flatMap((via) =>
      Array.from({ length: 60 }, () => herald.request('POST', LINKS, { key: workspace.key, body: {}, via })),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(20);
  for (const answer of refused) {
    expect(problemOf(answer)).toMatchObject({
      status: 409,
      code: 'portal_link_limit_reached',
      detail: 'this workspace already has 100 portal links; end one first, or wait until one has ended',
    });
  }
  const listed = await list(workspace);
  expect(listed).toHaveLength(100);
  const { id } = await makeAsOperator(workspace);
  expect((await list(workspace))[0]?.id).toBe(id);
  expect((await herald.request('POST', LINKS, { key: workspace.key, body: {} })).status).toBe(409);
  await end(workspace, listed[50]?.id ?? '');
  expect(await make(workspace)).toBeDefined();
  await end(workspace, listed[0]?.id ?? '');
  expect(await make(await herald.createWorkspace())).toBeDefined();
});

test('who has started the service on this machine a hundred times today gets a link all the same', async () => {
  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://a.example.com/' });
  const ofOperator = await makeAsOperator(workspace);
  const made = await Promise.all(Array.from({ length: 100 }, () => make(workspace)));
  const oldest = (await list(workspace)).at(-2)?.id;
  const link = await createConsoleLink(herald.apis[0]?.origin ?? '', workspace.key);
  const token = new URL(link.to()).hash.replace('#token=', '');
  expect(await statuses(token)).toEqual([200, 200]);
  const left = (await list(workspace)).map(({ id }) => id);
  expect(left).toHaveLength(101);
  expect(left).toContain(ofOperator.id);
  expect(made.map(({ id }) => id).filter((id) => !left.includes(id))).toEqual([oldest]);
});

test('the links of a key that is revoked leave the list, and give their places back', async () => {
  const workspace = await herald.createWorkspace();
  const key = await herald.createKey(workspace.id, ['webhooks']);
  const made = await Promise.all(Array.from({ length: 100 }, () => herald.request('POST', LINKS, { key, body: {} })));
  expect(made.map(({ status }) => status)).toEqual(Array(100).fill(201));
  const [listed] = await list(workspace);
  await runCli(['keys', 'revoke', listed?.createdBy ?? ''], herald.topology.env);
  expect(await list(workspace)).toEqual([]);
  const { id } = await make(workspace);
  expect((await list(workspace)).map((each) => each.id)).toEqual([id]);
});

test('a repeated request for a link says its id again, and makes no other', async () => {
  const workspace = await herald.createWorkspace();
  const options = { headers: { 'idempotency-key': 'one-link' }, body: {} };
  const [first, again] = [
    await workspace.request('POST', LINKS, options),
    await workspace.request('POST', LINKS, options),
  ];
  const { id, expiresAt, readOnly } = first.body as MadeLink;
  expect(again.body).toEqual({ id, expiresAt, readOnly });
  expect(await list(workspace)).toHaveLength(1);
});

describe('herald links', () => {
  test('list shows those of every workspace or of one, and revoke needs the id alone', async () => {
    const [one, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
    await one.registerReceiver({ url: 'https://a.example.com/' });
    const made = [await make(one), await makeAsOperator(one), await make(other, { readOnly: true })] as const;
    const all = JSON.parse((await links('list', '--json')).stdout) as { id: string }[];
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
    const ofOne = await links('list', '--workspace', one.id, '--json');
    const at = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    const by = { workspaceId: one.id, createdAt: at, expiresAt: at };
    expect(JSON.parse(ofOne.stdout)).toEqual([
      { id: made[1].id, ...by, readOnly: true, createdBy: 'operator', operator: OPERATOR_ENV.OPERATOR_USER },
      { id: made[0].id, ...by, readOnly: false, createdBy: await keyIdOf(one), operator: null },
    ]);
    const table = await links('list');
    expect(table.stdout).toMatch(/^id\tworkspace\tmay\tmade by\tcreated\texpires\n/);
    expect(table.stdout).toMatch(new RegExp(`^${made[2].id}\t${other.id}\tread\tkey_\\w+\t`, 'm'));
    expect(table.stdout).toMatch(new RegExp(`^${made[1].id}\t${one.id}\tread\toperator olga\t`, 'm'));
    for (const { token } of made) expect(ofOne.stdout + table.stdout).not.toContain(token.slice(5, 20));

    expect(await statuses(made[1].token)).toEqual([200, 200]);
    const revoked = await links('revoke', made[1].id);
    expect(revoked).toEqual({ code: 0, stdout: `revoked ${made[1].id} of ${one.id}`, stderr: '' });
    expect(await statuses(made[1].token)).toEqual([401, 401]);
    expect(JSON.parse((await links('revoke', made[2].id, '--json')).stdout)).toEqual({
      id: made[2].id,
      workspaceId: other.id,
      revoked: true,
    });
    expect((await list(one)).map(({ id }) => id)).toEqual([made[0].id]);
  });

  test.each([
    [
      'an id that nobody has',
      ['revoke', 'plk_0000000000000000'],
      /^error: there is no portal link plk_0{16}: it has ended/,
    ],
    ['an id that is none', ['revoke', 'key_0000000000000000'], /must be the id of a portal link, such as plk_/],
    ['no id', ['revoke'], /missing required argument/],
    ['a workspace that is none', ['list', '--workspace', 'my space'], /must be 1 to 64 letters/],
  ])('%s is refused with a sentence', async (_what, args, sentence) => {
    const { code, stdout, stderr } = await links(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
  });

  test('a list of nothing says so', async () => {
    expect(await links('list', '--workspace', 'ws_nobody')).toMatchObject({
      code: 0,
      stderr: 'No portal links to ws_nobody.',
    });
  });
});
