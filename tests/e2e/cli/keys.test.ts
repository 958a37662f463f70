import { freePort } from '@herald/test-kit';
import { problemOf } from '../../support/problems.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { runBuiltCli, runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

const KEY = /^hrld_[0-9a-f]{16}_[0-9A-Za-z]{38}$/;

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());

const keys = (...args: readonly string[]) => runCli(['keys', ...args], herald.topology.env);

async function createKey(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await keys('create', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

interface ListedKey {
  id: string;
  workspaceId: string | null;
  scopes: string[];
  expiresAt: string | null;
  lastUsedAt: string | null;
  name: string | null;
}

async function listKeys(): Promise<ListedKey[]> {
  return JSON.parse((await keys('list', '--json')).stdout) as ListedKey[];
}

const statusAt = async (key: string, api: number) => {
  const via = herald.apis[api];
  return await herald.request('GET', '/api/public/webhooks', { key, ...(via && { via }) });
};

test('create prints one key alone, and it works for its scopes on every API process', async () => {
  const args = ['keys', 'create', '--workspace', 'ws_cli', '--scopes', 'webhooks'];
  const { code, stdout: key, stderr } = await runBuiltCli(args, herald.topology.env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(key).toMatch(KEY);
  expect([(await statusAt(key, 0)).status, (await statusAt(key, 1)).status]).toEqual([200, 200]);
  expect((await herald.request('POST', '/tasks', { key, body: {} })).status).toBe(403);
});

test('without scopes a key may do all that a customer may, and an executor key what an executor may', async () => {
  const customer = await createKey('--workspace', 'ws_all');
  const executor = await createKey('--executor');
  const read = (path: string, key: string) => herald.request('GET', path, { key }).then(({ status }) => status);
  expect(await read('/api/public/webhooks', customer)).toBe(200);
  expect(await read('/tasks/task_none', customer)).toBe(404);
  expect(await read('/api/internal/tasks?status=queued', customer)).toBe(403);
  expect(await read('/api/internal/tasks?status=queued', executor)).toBe(200);
  expect(await read('/api/public/webhooks', executor)).toBe(403);
});

test('the list shows every key by its id and never the key itself', async () => {
  const key = await createKey('--workspace', 'ws_listed', '--scopes', 'tasks', '--expires-in', '90d');
  const [row] = (await listKeys()).filter(({ workspaceId }) => workspaceId === 'ws_listed');
  expect(row).toMatchObject({ scopes: ['tasks'], expiresAt: expect.stringMatching(/^\d{4}-/) as string });
  for (const { stdout } of [await keys('list'), await keys('list', '--json')]) {
    expect(stdout).toContain(row?.id);
    expect(stdout).not.toContain(key.slice(5));
    expect(stdout).not.toMatch(/hrld_/);
  }
});

test('the list shows the name that a key was given, and nothing for a key without one', async () => {
  await createKey('--workspace', 'ws_named', '--name', 'billing, staging');
  await createKey('--workspace', 'ws_nameless');
  const nameOf = (list: readonly ListedKey[], of: string) => list.find(({ workspaceId }) => workspaceId === of)?.name;
  const list = await listKeys();
  expect([nameOf(list, 'ws_named'), nameOf(list, 'ws_nameless')]).toEqual(['billing, staging', null]);
  expect((await keys('list')).stdout).toMatch(/^key_\w+\tws_named\t.*\tbilling, staging$/m);
});

test('for programs a key is the same as everything else: camelCase, ISO times, null for what there is not', async () => {
  const key = await createKey('--executor');
  const id = `key_${key.slice(5, 21)}`;
  const executor = (await listKeys()).find((each) => each.id === id);
  const createdAt = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  expect(executor).toEqual({
    id,
    workspaceId: null,
    scopes: ['execute'],
    name: null,
    createdAt,
    expiresAt: null,
    lastUsedAt: null,
  });
  expect((await keys('list')).stdout).toMatch(
    new RegExp(`^${id}\\t\\(executor\\)\\texecute\\t.*\\tnever\\tnever\\t$`, 'm'),
  );
});

test('a revoked key is refused at once by both API processes', async () => {
  const key = await createKey('--workspace', 'ws_revoked');
  expect([(await statusAt(key, 0)).status, (await statusAt(key, 1)).status]).toEqual([200, 200]);
  const [row] = (await listKeys()).filter(({ workspaceId }) => workspaceId === 'ws_revoked');
  const revoked = await keys('revoke', row?.id ?? '');
  const after = [await statusAt(key, 0), await statusAt(key, 1)];
  expect(revoked).toEqual({ code: 0, stdout: `revoked ${row?.id ?? ''}`, stderr: '' });
  expect(after.map((answer) => problemOf(answer).code)).toEqual(['unauthenticated', 'unauthenticated']);
  expect((await listKeys()).some(({ id }) => id === row?.id)).toBe(false);
});

test('an expired key is refused', async () => {
  const key = await createKey('--workspace', 'ws_expired', '--expires-in', '1ms');
  const answer = await statusAt(key, 0);
  expect(problemOf(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
});

test.each<[string, readonly string[], RegExp]>([
  ['no workspace', ['create'], /--workspace.*--executor/],
  ['a workspace id with a blank', ['create', '--workspace', 'my space'], /must be 1 to 64 letters/],
  [
    'an unknown scope',
    ['create', '--workspace', 'ws_x', '--scopes', 'tasks,everything'],
    /webhooks, tasks, approvals:any/,
  ],
  [
    'a scope that adds to another alone',
    ['create', '--workspace', 'ws_x', '--scopes', 'approvals:any'],
    /--scopes must have tasks beside approvals:any/,
  ],
  ['a scope that only executors have', ['create', '--workspace', 'ws_x', '--scopes', 'execute'], /webhooks, tasks/],
  ['an executor key with a workspace', ['create', '--executor', '--workspace', 'ws_x'], /cannot be used with/],
  ['an expiry that is no duration', ['create', '--workspace', 'ws_x', '--expires-in', 'soon'], /12h or 90d/],
  ['a name without a character', ['create', '--workspace', 'ws_x', '--name', ''], /1 to 64 characters/],
  ['a name beyond 64', ['create', '--workspace', 'ws_x', '--name', 'n'.repeat(65)], /1 to 64 characters/],
  ['a name on two lines', ['create', '--workspace', 'ws_x', '--name', 'a\nb'], /on one line/],
  ['an unknown option', ['create', '--wrokspace', 'ws_x'], /--workspace/],
  ['an unknown command', ['destroy'], /unknown command/],
  ['the revocation of a key that is not there', ['revoke', 'key_none'], /there is no key key_none/],
  ['the revocation of no key', ['revoke'], /missing required argument/],
])('%s is refused with a sentence that helps, and nothing on stdout', async (_name, args, sentence) => {
  const before = await dumpRedis(herald.redis);
  const { code, stdout, stderr } = await keys(...args);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(await dumpRedis(herald.redis)).toEqual(before);
});

test('Redis away is exit code 1 and a sentence that says what to start', async () => {
  const url = `redis://user:redis-password@127.0.0.1:${await freePort()}`;
  const { code, stdout, stderr } = await runBuiltCli(['keys', 'list'], { REDIS_URL: url });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^Redis at redis:\/\/127\.0\.0\.1:\d+ can't be reached .*redis-server.*REDIS_URL/);
  expect(stderr.split('\n')).toHaveLength(1);
  expect(stderr).not.toContain('redis-password');
});

test('a wrong REDIS_URL is exit code 1 and a sentence', async () => {
  const { code, stderr } = await runCli(['keys', 'list'], { REDIS_URL: 'http://127.0.0.1' });
  expect(code).toBe(1);
  expect(stderr).toContain('REDIS_URL must start with redis:// or rediss://');
});

test('what Redis refuses is told by its name, without the command that it would have refused', async () => {
  await herald.redis.call('ACL', 'SETUSER', 'limited', 'on', '>redis-password', '~*', '+@all', '-hset');
  const url = herald.server.url.replace('redis://', 'redis://limited:redis-password@');
  const { code, stdout, stderr } = await runCli(['keys', 'create', '--executor'], { REDIS_URL: url });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^Redis at redis:\/\/\S+ can't be used: Redis doesn't let the user limited run hset, .*\.$/);
  expect(stderr.split('\n')).toHaveLength(1);
});
