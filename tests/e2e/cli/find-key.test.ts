import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { newApiKey } from '../../../packages/store/src/access/api-key-store.ts';
import { auditTrailOf } from '../../support/audit-trail-of.ts';
import { giveFormerText } from '../../support/give-former-text.ts';
import { bodyOf } from '../../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { runBuiltCli, runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

/** One of 0.2.0, which carries no id. */
const FORMER = 'hrld_000000000000000000000000000000002wjyrI';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ workers: 0, env: OPERATOR_ENV });
});
afterAll(() => herald[Symbol.asyncDispose]());

const store = () => createApiKeyStore({ redis: herald.redis, now: Date.now });

/** Finds what stands on standard input, or the id. Whatever it prints, it is not what was found. */
async function find({ input = '', id, json = false }: { input?: string; id?: string; json?: boolean }) {
  const args = ['keys', 'find', ...(id === undefined ? [] : [id]), ...(json ? ['--json'] : [])];
  const result = await runCli(args, herald.topology.env, { input });
  const secret = (id ?? input).trim();
  const mayShow = /^(key|plk)_/.test(secret) || secret.length <= 12;
  expect(!mayShow && (result.stdout + result.stderr).includes(secret.slice(-12))).toBe(false);
  return result;
}
const read = async (input: string) => JSON.parse((await find({ input, json: true })).stdout) as Record<string, unknown>;

test('a whole key on standard input: whose it is, since when, last used, whether it is valid, and what it did', async () => {
  const expiresAt = Date.now() + 3_600_000;
  const { key, record } = await store().create({
    workspaceId: 'ws_found',
    scopes: ['webhooks'],
    expiresAt,
    name: 'ci',
  });
  const made = await herald.request('POST', '/api/public/webhooks', { key, body: { url: 'https://a.example.com/' } });
  const { id: receiver } = bodyOf(made, 201) as { id: string };
  await store().writeLastUse(record.id, record.createdAt + 1);
  const times = { createdAt: new Date(record.createdAt), lastUsedAt: new Date(record.createdAt + 1) };
  expect(await read(`  ${key}\n`)).toEqual({
    id: record.id,
    kind: 'api_key',
    valid: true,
    workspaceId: 'ws_found',
    scopes: ['webhooks'],
    readOnly: null,
    name: 'ci',
    createdBy: null,
    operator: null,
    createdAt: times.createdAt.toISOString(),
    lastUsedAt: times.lastUsedAt.toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    trail: [
      expect.objectContaining({
        at: expect.stringMatching(/Z$/) as string,
        by: record.id,
        action: 'registerReceiver',
        target: receiver,
        workspaceId: 'ws_found',
        address: '127.0.0.1',
      }),
    ],
  });
  const { code, stdout, stderr } = await find({ id: record.id });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    new RegExp(`^key\\t${record.id}\nvalid\\tyes\nworkspace\\tws_found\nscopes\\twebhooks\nname\\tci\n`),
  );
  expect(stdout).toMatch(
    new RegExp(`^\\S+Z\\tregisterReceiver\\t${receiver}\\tws_found\\t127\\.0\\.0\\.1\\treq_\\S+$`, 'm'),
  );
});

test('an executor key without an end', async () => {
  const { key } = await store().create({ scopes: ['execute'] });
  expect((await find({ input: key })).stdout).toMatch(
    /\nworkspace\t\(executor\)\n(.*\n)+last used\tnever\nexpires\tnever\n/,
  );
  expect(await read(key)).toMatchObject({ valid: true, workspaceId: null, scopes: ['execute'], expiresAt: null });
});

test('a key that was revoked is known by the id in its text, with its trail of the newest twenty', async () => {
  const { key, record } = await store().create({ workspaceId: 'ws_gone', scopes: ['webhooks'] });
  const trail = auditTrailOf(herald);
  for (let index = 0; index < 22; index++) {
    await trail.add({ by: record.id, action: 'changeReceiver', target: `wh_${index}`, workspaceId: 'ws_gone' });
  }
  await trail.add({ by: 'key_of_others', action: 'changeReceiver', workspaceId: 'ws_gone' });
  await store().revoke(record.id);
  for (const how of [{ input: key }, { id: record.id }]) {
    const { code, stdout, stderr } = await find(how);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^key\\t${record.id}\nvalid\\tno: revoked or expired; its trail:\n\n`));
    const targets = [...stdout.matchAll(/\twh_(\d+)\t/g)].map(([, index]) => Number(index));
    expect(targets).toEqual(Array.from({ length: 20 }, (_, index) => 21 - index));
  }
  expect(await read(key)).toMatchObject({ id: record.id, valid: false, workspaceId: null, expiresAt: null });
});

test('a key that never did anything and is gone is still told by its id, and an id that nobody knows is not', async () => {
  const { key, record } = await store().create({ workspaceId: 'ws_quiet', scopes: ['webhooks'] });
  await store().revoke(record.id);
  expect(await find({ input: key })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`key\t${record.id}\nvalid\tno: revoked, expired, or never made here`) as string,
    stderr: 'The audit trail has nothing that was done with it.',
  });
  expect(await find({ id: record.id })).toMatchObject({ code: 1, stdout: '' });
});

test('a former key is found by its text as long as it is valid, and by its id', async () => {
  const { record } = await store().create({ workspaceId: 'ws_former', scopes: ['tasks'] });
  const former = await giveFormerText(herald.redis, record.id);
  expect((await herald.request('GET', '/api/public/access', { key: former })).status).toBe(200);
  expect(await read(former)).toMatchObject({ id: record.id, valid: true, workspaceId: 'ws_former' });
  expect((await find({ id: record.id })).stdout).toContain('workspace\tws_former\n');
  await store().revoke(record.id);
  expect(await find({ input: former })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: this key is not valid: .*carries no id/) as string,
  });
});

test('the token of a portal link, and its id', async () => {
  const workspace = await herald.createWorkspace();
  const made = await workspace.request('POST', '/api/public/portal-links', { body: { readOnly: true } });
  const { id, token, expiresAt } = bodyOf(made, 201) as { id: string; token: string; expiresAt: string };
  const keyId = (await store().find(workspace.key))?.id;
  const expected = {
    id,
    kind: 'portal_link',
    valid: true,
    workspaceId: workspace.id,
    readOnly: true,
    createdBy: keyId,
  };
  expect(await read(token)).toMatchObject({ ...expected, expiresAt, scopes: null, trail: [] });
  const found = await find({ id });
  expect(found.stdout).toMatch(
    new RegExp(
      `^portal link\\t${id}\nvalid\\tyes\nworkspace\\t${workspace.id}\nmay only read\\tyes\nmade by\\t${keyId ?? ''}\n`,
    ),
  );
  await runCli(['links', 'revoke', id], herald.topology.env);
  expect(await find({ input: token })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: this link has ended: /) as string,
  });
});

test('a link that an operator made names him', async () => {
  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://a.example.com/' });
  const { OPERATOR_USER: user, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
  const headers = { ...basic(user, password), 'sec-fetch-site': 'same-origin' };
  const path = `/api/operator/workspaces/${workspace.id}/portal-links`;
  const { token } = bodyOf(await herald.request('POST', path, { headers }), 201) as { token: string };
  expect(await read(token)).toMatchObject({ createdBy: 'operator', operator: user });
  expect((await find({ input: token })).stdout).toContain(`made by\toperator ${user}\n`);
});

const valid = newApiKey('key_0123456789abcdef');
test.each<[string, { input?: string; id?: string }, RegExp]>([
  ['nothing', {}, /^error: this is no key and no token\. A key is hrld_, 16 hex digits, _ and 38 letters/],
  ['garbage', { input: 'correct horse battery staple' }, /^error: this is no key and no token/],
  ['binary garbage', { input: '\u0000\u001b[2J\ufffd'.repeat(3_000) }, /^error: this is no key and no token/],
  ['a signing secret', { input: `whsec_${'A'.repeat(43)}=` }, /^error: this is no key and no token/],
  ['two keys', { input: `${valid}\n${valid}` }, /^error: the checksum at the end of this key is wrong/],
  [
    'a key that was cut',
    { input: valid.slice(0, -1) },
    /checksum.* is wrong: .*herald keys find key_0123456789abcdef says/,
  ],
  ['a former key that was cut', { input: FORMER.slice(0, -1) }, /^error: this is no key and no token/],
  ['a key as an argument', { id: valid }, /^error: this is the key or the token itself, which others can see/],
  ['an id that is none', { id: 'ws_acme' }, /^error: the id of a key is such as key_0123456789abcdef/],
  ['an id that nobody has', { id: 'key_0000000000000000' }, /^error: there is no key key_0{16}, and the audit trail/],
  ['a link that nobody has', { id: 'plk_0000000000000000' }, /^error: there is no portal link plk_0{16}, and/],
])('%s is refused with a sentence, and is not repeated', async (_what, how, sentence) => {
  const { code, stdout, stderr } = await find(how);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(sentence);
});

test('a text that somebody made up for the id of a valid key is not taken for that key', async () => {
  const { record } = await store().create({ workspaceId: 'ws_forged', scopes: ['tasks'] });
  const { code, stdout, stderr } = await find({ input: newApiKey(record.id) });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    `error: this is not the key ${record.id}, whose id it names and which is valid: somebody changed it or made it up`,
  );
});

test('a key or a token in the place of an id is repeated by no command', async () => {
  const token = `hrlp_${'a'.repeat(38)}`;
  for (const secret of [valid, FORMER, token, `whsec_${'A'.repeat(43)}=`]) {
    const commands = [
      ['keys', 'revoke', secret],
      ['links', 'revoke', secret],
      ['links', 'list', '--workspace', `${secret}!`],
      ['deliveries', 'show', secret],
      ['receivers', 'disable', secret],
      ['replay', 'show', secret],
      ['secrets', 'forget', secret],
      [secret],
      ['keys', 'list', `--${secret}`],
    ];
    for (const args of commands) {
      const { code, stdout, stderr } = await runCli(args, herald.topology.env);
      expect([args[0] === secret ? '' : args.slice(0, 2), code]).toEqual([
        args[0] === secret ? '' : args.slice(0, 2),
        1,
      ]);
      expect(stdout + stderr).not.toContain(secret.slice(-20));
    }
  }
});

test('the built command reads standard input, and ends when there is none', async () => {
  const { code, stderr } = await runBuiltCli(['keys', 'find'], herald.topology.env);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('this is no key and no token') as string,
  });
});
