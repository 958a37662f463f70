import { createApiKeyStore, type ApiKeyStore } from '@herald/store/access/api-key-store';
import { waitFor } from '@herald/test-kit';
import { problemOf } from '../../support/problems.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald, type ViaOptions } from '../../support/start-herald.ts';
import { listKeys } from '../../support/start-topology.ts';

/** As `create-app.ts` has it. */
const FAILURES_PER_MINUTE = 120;
const RECEIVERS = '/api/public/webhooks';

let herald: Herald;
let keys: ApiKeyStore;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 0 });
  keys = createApiKeyStore({ redis: herald.redis, now: Date.now });
});
afterAll(() => herald[Symbol.asyncDispose]());

const wrongKey = (key: string) => key.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a'));
const codeOf = async (options: ViaOptions) => problemOf(await herald.request('GET', RECEIVERS, options)).code;

test('a revoked key is refused by every API process from the very next request', async () => {
  for (let round = 0; round < 5; round++) {
    const { key, record } = await keys.create({ workspaceId: 'ws_revoked', scopes: ['webhooks'] });
    for (const via of herald.apis) expect((await herald.request('GET', RECEIVERS, { key, via })).status).toBe(200);
    await keys.revoke(record.id);
    for (const via of herald.apis) expect(await codeOf({ key, via })).toBe('unauthenticated');
  }
});

test('a revocation leaves nothing of the key, whatever was being noted about it', async () => {
  const before = await dumpRedis(herald.redis);
  const { key, record } = await keys.create({ workspaceId: 'ws_gone', scopes: ['webhooks'] });
  const lookUp = (await herald.redis.hget('herald:keys', record.id)) ?? '';
  const use = herald.request('GET', RECEIVERS, { key });
  await keys.revoke(record.id);
  await use;
  // As a process finds it that has looked the key up and not yet written.
  await herald.redis.hset('herald:keys', record.id, lookUp);
  await keys.writeLastUse(record.id, Date.now());
  await herald.redis.hdel('herald:keys', record.id);
  expect(await dumpRedis(herald.redis)).toEqual(before);
});

test('a key that was found but does not prove itself is refused', async () => {
  const key = await herald.createKey('ws_proof', ['webhooks']);
  const names = await listKeys(herald.redis, 'herald:key:*');
  const found = await Promise.all(names.map((name) => herald.redis.hget(name, 'workspaceId')));
  const name = names[found.indexOf('ws_proof')] ?? '';
  expect((await herald.request('GET', RECEIVERS, { key })).status).toBe(200);
  await herald.redis.hset(name, 'proof', '0'.repeat(32));
  expect(await codeOf({ key })).toBe('unauthenticated');
});

test('the last use of a key shows in the list, and is written about once a minute', async () => {
  const { key, record } = await keys.create({ workspaceId: 'ws_used', scopes: ['webhooks'] });
  const list = async () => (await runCli(['keys', 'list', '--json'], herald.topology.env)).stdout;
  const rowOf = async () =>
    (JSON.parse(await list()) as { id: string; lastUsedAt: string | null }[]).find(({ id }) => id === record.id);
  expect((await rowOf())?.lastUsedAt).toBeNull();
  await herald.request('GET', RECEIVERS, { key });
  const lastUse = async () => (await keys.list()).find(({ id }) => id === record.id)?.lastUsedAt;
  const first = await waitFor('the first use to be written', lastUse);
  for (let use = 0; use < 5; use++) await herald.request('GET', RECEIVERS, { key });
  expect(await lastUse()).toBe(first);
  expect((await rowOf())?.lastUsedAt).toBe(new Date(first).toISOString());
});

test('who shares an address with somebody who guesses is not refused, and the guessing is slowed down', async () => {
  await using other = await startHerald({ workers: 0 });
  const { key } = await other.createWorkspace();
  const send = (options: ViaOptions) => other.request('GET', RECEIVERS, options);
  for (let guess = 0; guess < FAILURES_PER_MINUTE; guess++) {
    expect((await send({ key: guess % 2 === 0 ? wrongKey(key) : 'hrld_guess' })).status).toBe(401);
  }
  for (const bad of [wrongKey(key), 'hrld_guess', undefined]) {
    const answer = await send(bad === undefined ? {} : { key: bad });
    expect(problemOf(answer)).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  }
  // The caller can't choose its address, and so gets no new budget.
  const spoofed = await send({ key: 'hrld_guess', headers: { 'x-forwarded-for': '203.0.113.5' } });
  expect(problemOf(spoofed).code).toBe('rate_limited');
  expect((await send({ key })).status).toBe(200);
});

test('what is no key by its form is refused without Redis, and everything else waits for Redis', async () => {
  await using other = await startHerald({ workers: 0 });
  const { key } = await other.createWorkspace();
  await other.server.kill();
  const send = async (given: string) => problemOf(await other.request('GET', RECEIVERS, { key: given }));
  const malformed = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  expect(await send(malformed)).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect(await send(key)).toMatchObject({ status: 503, code: 'unavailable' });
});
