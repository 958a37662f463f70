import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import {
  createPortalLinkStore,
  PORTAL_LINK_LIMIT,
  type NewPortalLink,
  type PortalLink,
} from '@herald/store/access/portal-link-store';
import { dumpRedis, toText } from '../support/redis-dump.ts';
import { newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

const HOUR_MS = 3_600_000;
const OLGA = { operator: 'olga' };

let stores: Stores;
/** What time it is for the stores; Redis has its own for what expires. */
const clock = { ahead: 0 };
const now = () => Date.now() + clock.ahead;
beforeAll(async () => {
  stores = await startStores(3);
});
beforeEach(() => {
  clock.ahead = 0;
});
afterAll(() => stores[Symbol.asyncDispose]());

/** As two processes have them. */
const storesOfLinks = () =>
  [stores.redis, stores.second.redis].map((redis) => createPortalLinkStore({ redis, keyspace: stores.keyspace, now }));
const links = () => createPortalLinkStore({ redis: stores.redis, keyspace: stores.keyspace, now });
const keys = () => createApiKeyStore({ redis: stores.redis, now });

const requestOf = (workspaceId: string, more: Partial<NewPortalLink> = {}): NewPortalLink => ({
  workspaceId,
  readOnly: false,
  lifeMs: HOUR_MS,
  madeBy: OLGA,
  ...more,
});
async function make(workspaceId: string, more: Partial<NewPortalLink> = {}) {
  const made = await links().create(requestOf(workspaceId, more));
  if (typeof made === 'string') throw new Error(made);
  return made;
}
const idsOf = async (workspaceId: string) => (await links().list(workspaceId)).map(({ id }) => id);
const indexOf = (workspaceId: string) => stores.keyspace.of(workspaceId).portalLinks(workspaceId);

describe('the links of a workspace', () => {
  test('are listed newest first, with who made each, and without a token or a part of one', async () => {
    const workspaceId = newWorkspaceId();
    const { record } = await keys().create({ workspaceId, scopes: ['webhooks'] });
    const first = await make(workspaceId, { madeBy: record, readOnly: true });
    clock.ahead = 1;
    const second = await make(workspaceId);
    await make(newWorkspaceId());
    const listed = await links().list(workspaceId);
    expect(listed).toEqual([second.link, first.link]);
    expect(listed).toMatchObject([
      { operator: 'olga', readOnly: false },
      { keyId: record.id, readOnly: true, expiresAt: first.link.createdAt + HOUR_MS },
    ]);
    const all = `${JSON.stringify(listed)} ${toText(await dumpRedis(stores.redis))}`;
    for (const { token } of [first, second]) expect(all).not.toContain(token.slice(5, 37));
    expect(await links().find(first.token)).toEqual(first.link);
  });

  test('are a hundred at most, over all processes, also when more come at once, and those of another count apart', async () => {
    const workspaceId = newWorkspaceId();
    const both = storesOfLinks();
    const made = await Promise.all(
      both.flatMap(({ create }) => Array.from({ length: 75 }, () => create(requestOf(workspaceId)))),
    );
    expect(made.filter((each) => each === 'full')).toHaveLength(50);
    expect(await idsOf(workspaceId)).toHaveLength(PORTAL_LINK_LIMIT);
    expect(await make(newWorkspaceId())).toBeDefined();
    const [first] = await idsOf(workspaceId);
    await links().revoke(workspaceId, first ?? '');
    const again = await Promise.all(both.map((each) => each.create(requestOf(workspaceId))));
    expect(again.filter((each) => each === 'full')).toHaveLength(1);
  });

  test('leave the list and the index with their time, and the index leaves with the last one', async () => {
    const workspaceId = newWorkspaceId();
    const long = await make(workspaceId, { lifeMs: 2 * HOUR_MS });
    await make(workspaceId);
    const { portalWorkspaces } = stores.keyspace.of(workspaceId);
    for (const index of [indexOf(workspaceId), portalWorkspaces]) {
      expect(await stores.redis.pexpiretime(index)).toBeGreaterThanOrEqual(long.link.expiresAt);
    }
    expect(await stores.redis.pexpiretime(indexOf(workspaceId))).toBe(long.link.expiresAt);
    clock.ahead = HOUR_MS + 1_000;
    expect(await idsOf(workspaceId)).toEqual([long.link.id]);
    const third = await make(workspaceId, { lifeMs: 60_000 });
    expect(await stores.redis.zcard(indexOf(workspaceId))).toBe(2);
    clock.ahead = 2 * HOUR_MS + 1_000;
    expect(await idsOf(workspaceId)).toEqual([]);
    expect(await links().findWorkspace(third.link.id)).toBeUndefined();
  });

  test('end with their API key: they leave the list, and their places are free', async () => {
    const workspaceId = newWorkspaceId();
    const { record } = await keys().create({ workspaceId, scopes: ['webhooks'] });
    const { record: lasting } = await keys().create({ workspaceId, scopes: ['webhooks'] });
    const made = await Promise.all(
      Array.from({ length: PORTAL_LINK_LIMIT - 1 }, () => make(workspaceId, { madeBy: record })),
    );
    const other = await make(workspaceId, { madeBy: lasting });
    expect(await links().create(requestOf(workspaceId, { madeBy: lasting }))).toBe('full');
    await keys().revoke(record.id);
    expect(await links().find(made[0]?.token ?? '')).toBeUndefined();
    expect(await idsOf(workspaceId)).toEqual([other.link.id]);
    expect(await links().create(requestOf(workspaceId, { madeBy: record }))).toBe('key_ended');
    const next = await make(workspaceId, { madeBy: lasting });
    expect(new Set(await idsOf(workspaceId))).toEqual(new Set([next.link.id, other.link.id]));
    expect(await stores.redis.zcard(indexOf(workspaceId))).toBe(2);
  });

  test('whose process died before there was a record are in no list, and keep nobody out for longer than a minute', async () => {
    const workspaceId = newWorkspaceId();
    await Promise.all(Array.from({ length: PORTAL_LINK_LIMIT }, () => make(workspaceId)));
    const entries = await stores.redis.zrange(indexOf(workspaceId), 0, '-1');
    for (const entry of entries) await stores.redis.del(GLOBAL_KEYS.portalLink(entry.split(':')[2] ?? ''));
    expect(await idsOf(workspaceId)).toEqual([]);
    // Their records may still come: nobody could end such a link if its entry were gone.
    expect(await links().create(requestOf(workspaceId))).toBe('full');
    expect(await stores.redis.zcard(indexOf(workspaceId))).toBe(PORTAL_LINK_LIMIT);
    clock.ahead = 61_000;
    const { link } = await make(workspaceId);
    expect(await idsOf(workspaceId)).toEqual([link.id]);
    expect(await stores.redis.zcard(indexOf(workspaceId))).toBe(1);
  });
});

describe('ending a link', () => {
  test('refuses it at once in every process, and no other', async () => {
    const workspaceId = newWorkspaceId();
    const [ended, other] = [await make(workspaceId), await make(workspaceId)];
    const both = storesOfLinks();
    const find = async (token: string) => await Promise.all(both.map((each) => each.find(token)));
    expect(await find(ended.token)).toEqual([ended.link, ended.link]);
    expect(await both[0]?.revoke(workspaceId, ended.link.id)).toEqual({});
    expect(await find(ended.token)).toEqual([undefined, undefined]);
    expect(await find(other.token)).toEqual([other.link, other.link]);
    expect(await idsOf(workspaceId)).toEqual([other.link.id]);
    expect(await both[1]?.revoke(workspaceId, ended.link.id)).toBeUndefined();
  });

  test('finds nothing of another workspace, nothing by a part of an id, and nothing that has ended', async () => {
    const workspaceId = newWorkspaceId();
    const { token, link } = await make(workspaceId);
    expect(await links().revoke(newWorkspaceId(), link.id)).toBeUndefined();
    expect(await links().revoke(workspaceId, link.id.slice(0, -1))).toBeUndefined();
    expect(await links().find(token)).toEqual(link);
    clock.ahead = HOUR_MS + 1;
    expect(await links().revoke(workspaceId, link.id)).toBeUndefined();
  });

  test('is done by who comes again after the record went and the entry stayed, and keeps the entry until replicas know', async () => {
    const workspaceId = newWorkspaceId();
    const { token, link } = await make(workspaceId);
    const { redis, keyspace } = stores;
    const alone = createPortalLinkStore({ redis, keyspace, now, awaitReplication: () => Promise.resolve(false) });
    await expect(alone.revoke(workspaceId, link.id)).rejects.toThrow('too few replicas');
    expect(await links().find(token)).toBeUndefined();
    expect(await idsOf(workspaceId)).toEqual([]);
    expect(await links().revoke(workspaceId, link.id)).toEqual({});
    expect(await stores.redis.zcard(indexOf(workspaceId))).toBe(0);
  });

  test('is possible for whoever has its id alone: its workspace is found, in whichever shard', async () => {
    const made = await Promise.all(Array.from({ length: 9 }, () => make(newWorkspaceId())));
    for (const { link } of made) expect(await links().findWorkspace(link.id)).toBe(link.workspaceId);
    expect(await links().findWorkspace('plk_0000000000000000')).toBeUndefined();
    const all: PortalLink[] = [];
    for await (const some of links().listAll()) all.push(...some);
    expect(all).toEqual(expect.arrayContaining(made.map(({ link }) => link)));
    const owners = all.map(({ workspaceId }) => workspaceId);
    expect(owners).toEqual(owners.toSorted());
  });
});

test('too few replicas refuse a link, which nobody has then', async () => {
  const workspaceId = newWorkspaceId();
  const { redis, keyspace } = stores;
  const alone = createPortalLinkStore({ redis, keyspace, now, awaitReplication: () => Promise.resolve(false) });
  await expect(alone.create(requestOf(workspaceId))).rejects.toThrow('too few replicas');
  expect(await idsOf(workspaceId)).toEqual([]);
});
