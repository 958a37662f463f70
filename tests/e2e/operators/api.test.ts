import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createKeyspace } from '@herald/store/keys/keys';
import { createPortalLinkStore } from '@herald/store/access/portal-link-store';
import { waitFor } from '@herald/test-kit';
import { bodyOf, type RequestOptions } from '../../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { problemOf } from '../../support/problems.ts';
import { dumpRedis, toText } from '../../support/redis-dump.ts';
import { startScene, type Scene } from './scene.ts';

const { OPERATOR_USER: user, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
const PUBLIC_URL = 'https://herald.example.com/hooks';
const PATHS = ['/overview', '/receivers', '/search?q=x', '/deliveries/failed', '/audit'];

interface PortalLink {
  id: string;
  url: string;
  token: string;
  expiresAt: string;
  readOnly: boolean;
}

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({ PUBLIC_URL: `${PUBLIC_URL}/` });
}, 60_000);
afterAll(() => scene[Symbol.asyncDispose]());

const ask = (method: string, path: string, { headers, ...options }: RequestOptions = {}) =>
  scene.herald.request(method, `/api/operator${path}`, {
    ...options,
    headers: { ...basic(user, password), 'sec-fetch-site': 'same-origin', ...headers },
  });
const read = async (path: string) => bodyOf(await ask('GET', path), 200);
const createLink = async (body: object = {}, headers = {}) =>
  await scene.workspace.request('POST', '/api/public/portal-links', { body, headers });
const linkOf = async (body: object = {}) => bodyOf(await createLink(body), 201) as PortalLink;
const send = (method: string, path: string, options: RequestOptions) => scene.herald.request(method, path, options);
const RECEIVERS = '/api/public/webhooks';
/** The lines of the log with this event, when there is one. */
async function linesOf(event: string): Promise<unknown[]> {
  await scene.herald.waitForLog(`"${event}"`);
  const lines = scene.herald.logs().split('\n');
  return lines.filter((line) => line.includes(`"${event}"`)).map((line) => JSON.parse(line) as unknown);
}

describe('what operators read', () => {
  test.each([...PATHS, '/nothing'])('%s asks for a sign-in, which no key is', async (path) => {
    const key = scene.workspace.key;
    const { token } = await linkOf();
    for (const options of [{}, { key }, { key: token }, { headers: basic(user, 'wrong') }]) {
      const answer = await send('GET', `/api/operator${path}`, options);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    }
  });

  test.each([
    ['/api/operator/overview', 'GET, HEAD'],
    ['/api/operator/workspaces/ws_x/portal-links', 'POST'],
    ['/metrics', 'GET, HEAD'],
    ['/admin', 'GET, HEAD'],
    ['/admin/queues', 'GET, HEAD'],
    ['/admin/queues/api/queues', 'GET, HEAD'],
  ])('%s says which methods it has, when it is asked by another', async (path, allow) => {
    const { status, headers } = await send('OPTIONS', path, { headers: basic(user, password) });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow });
  });

  test('the overview counts what was accepted, delivered and failed, and says what is wrong in the words of the doctor', async () => {
    const overview = (await read('/overview?window=1h')) as {
      now: Record<string, number>;
      buckets: { at: string; accepted: number; delivered: number; failedAttempts: number }[];
      processes: { role: string }[];
      redis: { usedBytes: number };
      findings: { level: string; code: string; text: string; whatToDo: string }[];
    };
    expect(overview.buckets).toHaveLength(60);
    const sumOf = (name: 'accepted' | 'delivered' | 'failedAttempts') =>
      overview.buckets.reduce((sum, bucket) => sum + bucket[name], 0);
    // One that failed, one that is tried again, six for a host that is away and one more.
    expect(sumOf('accepted')).toBe(9);
    expect(sumOf('delivered')).toBe(0);
    expect(sumOf('failedAttempts')).toBeGreaterThanOrEqual(8);
    expect(overview.now.delayed).toBeGreaterThan(0);
    expect(overview.now.acceptedPerSecond).toBeGreaterThan(0);
    expect(overview.processes.map(({ role }) => role)).toContain('api');
    expect(overview.redis.usedBytes).toBeGreaterThan(100_000);
    expect(overview.findings.map(({ code }) => code)).toEqual([
      ...['maxmemory_unset', 'persistence_off', 'no_worker', 'breaker_open', 'deliveries_failed'],
    ]);
    for (const { text, whatToDo } of overview.findings) expect([text, whatToDo]).not.toContain('');
    expect(await read('/overview?window=24h')).toMatchObject({ bucketSeconds: 900 });
  });

  test('receivers show what waits and why, and are found by a part of their host or workspace', async () => {
    const { host, deliveryId } = scene.paused;
    const { receivers } = (await read('/receivers')) as {
      receivers: { group: string; host: string; workspaceId: string }[];
    };
    const paused = receivers.find((each) => each.host === host);
    expect(paused).toMatchObject({
      breaker: 'open',
      unanswered: expect.any(Number) as number,
      nextProbeAt: new Date(scene.paused.nextProbeAt).toISOString(),
      why: expect.stringContaining('one probe at a time') as string,
      sentPerSecond: expect.any(Number) as number,
    });
    // Nothing goes through an open breaker, so that nobody knows when it is done.
    expect(paused).not.toHaveProperty('emptyInMs');
    expect(JSON.stringify(receivers)).toContain(deliveryId.slice(0, 4));
    for (const find of [host, host.toUpperCase(), paused?.workspaceId ?? '']) {
      const found = (await read(`/receivers?find=${encodeURIComponent(find)}`)) as { receivers: unknown[] };
      expect(found.receivers).toMatchObject([{ group: paused?.group, host }]);
    }
    expect(await read('/receivers?find=nowhere.example')).toEqual({ receivers: [] });
    expect(((await read('/receivers?limit=1')) as { receivers: unknown[] }).receivers).toHaveLength(1);
  });

  test('the search finds the workspace of every kind of thing', async () => {
    const { workspace, delayed } = scene;
    const [receiver] = (await workspace.listReceivers()).webhooks;
    const workspaceId = workspace.id;
    const find = async (q: string) =>
      ((await read(`/search?q=${encodeURIComponent(q)}`)) as { results: { kind: string; id: string }[] }).results;
    expect(await find(workspaceId)).toMatchObject([{ kind: 'workspace', id: workspaceId, workspaceId }]);
    expect(await find(receiver?.id ?? '')).toMatchObject([{ kind: 'receiver', workspaceId, label: delayed.host }]);
    expect(await find(delayed.deliveryId)).toMatchObject([{ kind: 'delivery', workspaceId }]);
    expect(await find(delayed.taskId)).toMatchObject([{ kind: 'task', workspaceId }]);
    const hosts = await find(delayed.host);
    expect(hosts).toContainEqual({ kind: 'host', id: delayed.host, workspaceId, label: expect.any(String) as string });
    expect(await find('nowhere.example')).toEqual([]);
    expect(await find('dlv_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')).toEqual([]);
  });

  test('failed deliveries of all workspaces are listed page by page', async () => {
    const page = (await read('/deliveries/failed?limit=1')) as { deliveries: object[]; nextCursor: string | null };
    expect(page).toMatchObject({
      deliveries: [{ id: scene.failed.deliveryId, reason: 'schedule_exhausted', lastAttempt: { status: 503 } }],
      nextCursor: null,
    });
    expect(problemOf(await ask('GET', '/deliveries/failed?cursor=x')).code).toBe('validation_failed');
  });

  test('the audit trail is listed page by page, by workspace, doer and time, and reading it leaves no entry', async () => {
    const workspace = await scene.herald.createWorkspace();
    const { id: workspaceId } = workspace;
    const receiver = await workspace.registerReceiver({ url: 'https://hooks.example.com/in' });
    const path = `${RECEIVERS}/${receiver.id}`;
    const answer = await workspace.request('PATCH', path, { body: { description: 'canary', enabled: false } });
    await ask('POST', `/workspaces/${workspaceId}/portal-links`, { body: {} });
    const { entries } = (await read(`/audit?workspace=${workspaceId}`)) as { entries: Record<string, unknown>[] };
    const keyId = entries.at(-1)?.by;
    expect(entries).toMatchObject([
      { action: 'openWorkspace', by: 'operator', user, workspaceId },
      {
        action: 'changeReceiver',
        by: expect.stringMatching(/^key_/) as string,
        user: null,
        target: receiver.id,
        fields: ['description', 'enabled'],
        reason: null,
        address: expect.stringContaining('127.0.0.1') as string,
        requestId: answer.headers['x-request-id'],
        at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      },
      { action: 'registerReceiver', by: keyId, target: receiver.id },
    ]);
    const walked: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = `workspace=${workspaceId}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = (await read(`/audit?${query}`)) as { entries: unknown[]; nextCursor: string | null };
      walked.push(...page.entries);
      cursor = page.nextCursor;
    }
    expect(walked).toEqual(entries);
    const actionsOf = async (query: string) =>
      (
        (await read(`/audit?workspace=${workspaceId}&${query}`)) as typeof entries & { entries: typeof entries }
      ).entries.map(({ action }) => action);
    expect(await actionsOf('by=operator')).toEqual(['openWorkspace']);
    expect(await actionsOf(`by=${String(keyId)}`)).toEqual(['changeReceiver', 'registerReceiver']);
    expect(await actionsOf('since=2100-01-01T00:00:00Z')).toEqual([]);
  });

  test.each([
    'by=ann',
    'cursor=x',
    `cursor=${Buffer.from('1-2').toString('base64url')}`,
    'workspace=a/b',
    'since=2h',
    'limit=0',
  ])('the audit trail is not listed with %s', async (query) => {
    expect(problemOf(await ask('GET', `/audit?${query}`)).code).toBe('validation_failed');
  });

  test('nothing of it shows a secret, a path of a url or a payload', async () => {
    const texts = await Promise.all(PATHS.map(async (path) => (await ask('GET', path)).text));
    for (const secret of [...scene.secrets, 'canary']) expect(texts.join()).not.toContain(secret);
  });

  test.each<[string, RequestOptions, number, string]>([
    ['a page of another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'foreign_origin'],
    ['a body that is none', { rawBody: '{' }, 400, 'invalid_json'],
    ['a field too many', { body: { expiresInSeconds: 60 } }, 422, 'validation_failed'],
  ])('%s opens no workspace', async (_who, options, status, code) => {
    const answer = await ask('POST', `/workspaces/${scene.workspace.id}/portal-links`, { body: {}, ...options });
    expect(answer.status).toBe(status);
    expect(problemOf(answer).code).toBe(code);
  });

  test('a workspace that nobody knows is not opened', async () => {
    expect(problemOf(await ask('POST', '/workspaces/ws_nobody/portal-links')).code).toBe('workspace_not_found');
    expect(problemOf(await ask('POST', '/workspaces/a%20b/portal-links')).code).toBe('workspace_not_found');
  });

  test('an operator without OPERATOR_WRITE gets a link that only reads, and one with it leaves his name at every change', async () => {
    const { workspace, herald } = scene;
    const open = async (options: object = {}) =>
      bodyOf(await ask('POST', `/workspaces/${workspace.id}/portal-links`, options), 201) as PortalLink;
    const reading = await open({ body: { readOnly: false } });
    expect(reading.readOnly).toBe(true);
    expect((await send('GET', RECEIVERS, { key: reading.token })).body).toEqual(await workspace.listReceivers());
    const workspaceId = workspace.id;
    expect(await linesOf('audit.entry')).toContainEqual(
      expect.objectContaining({ by: 'operator', user, action: 'openWorkspace', workspaceId }),
    );

    const api = await herald.startApi({ OPERATOR_WRITE: 'true' });
    const headers = { ...basic(user, password), 'sec-fetch-site': 'same-origin' };
    const path = `/api/operator/workspaces/${workspace.id}/portal-links`;
    const { token, readOnly } = bodyOf(await herald.request('POST', path, { headers, via: api }), 201) as PortalLink;
    expect(readOnly).toBe(false);
    const [receiver] = (await workspace.listReceivers()).webhooks;
    const body = { description: 'looked after' };
    const change = (via: typeof api | undefined) =>
      herald.request('PATCH', `${RECEIVERS}/${receiver?.id ?? ''}`, { key: token, body, ...(via && { via }) });
    // Where operators may only read, a link that one of them made elsewhere does no more.
    expect([(await change(undefined)).status, (await change(api)).status]).toEqual([403, 200]);
    expect(await linesOf('audit.entry')).toContainEqual(
      expect.objectContaining({ action: 'changeReceiver', user, workspaceId, target: receiver?.id }),
    );
    await api.stop();
  });
});

describe('portal links', () => {
  test('a link is absolute, has its token in the fragment alone, and lives an hour unless asked', async () => {
    const before = Date.now();
    const link = await linkOf();
    expect(link.url).toBe(`${PUBLIC_URL}/console#token=${link.token}`);
    expect(link.token).toMatch(/^hrlp_[0-9A-Za-z]{38}$/);
    expect(link.readOnly).toBe(false);
    expect(Date.parse(link.expiresAt) - before).toBeGreaterThanOrEqual(3_600_000 - 1_000);
    expect(Date.parse(link.expiresAt) - before).toBeLessThan(3_600_000 + 60_000);
    expect((await createLink()).headers['cache-control']).toBe('no-store');
  });

  test('Redis holds nothing of a token but its SHA-256, and forgets that with the link', async () => {
    const { token } = await linkOf({ expiresInSeconds: 60 });
    const dump = await dumpRedis(scene.herald.redis);
    expect(toText(dump)).not.toContain(token);
    expect(toText(dump)).not.toContain(token.slice(5, 37));
    const keys = [...dump.keys()].filter((key) => key.startsWith('herald:portal:'));
    const lives = await Promise.all(keys.map((key) => scene.herald.redis.pttl(key)));
    // Those of the tests before live for an hour.
    expect(lives.filter((ms) => ms > 0 && ms <= 60_000)).toHaveLength(1);
    expect(lives.filter((ms) => ms < 0)).toEqual([]);
    expect(scene.herald.logs()).not.toContain(token);
  });

  test('whoever asks is told what the credentials may do', async () => {
    const { workspace } = scene;
    const { token, expiresAt } = await linkOf({ readOnly: true });
    const access = async (key: string) => (await send('GET', '/api/public/access', { key })).body;
    const workspaceId = workspace.id;
    expect(await access(token)).toEqual({
      workspaceId,
      kind: 'portal_link',
      scopes: ['webhooks'],
      readOnly: true,
      operator: false,
      expiresAt,
    });
    const scopes = ['webhooks', 'tasks'];
    expect(await access(workspace.key)).toEqual({
      workspaceId,
      kind: 'api_key',
      scopes,
      readOnly: false,
      operator: false,
    });
  });

  test('a link that has expired, one whose key was revoked and one that is cut are told to be links that have ended', async () => {
    const { herald, workspace } = scene;
    const { redis } = herald;
    const keys = createApiKeyStore({ redis, now: Date.now });
    const { key, record } = await keys.create({ workspaceId: workspace.id, scopes: ['webhooks'] });
    const made = await send('POST', '/api/public/portal-links', { key, body: {} });
    const { token } = bodyOf(made, 201) as PortalLink;
    expect((await send('GET', RECEIVERS, { key: token })).status).toBe(200);
    const links = createPortalLinkStore({ redis, keyspace: createKeyspace(1), now: Date.now });
    const short = await links.create({
      workspaceId: workspace.id,
      readOnly: false,
      lifeMs: 300,
      madeBy: { operator: 'olga' },
    });
    if (typeof short === 'string') throw new Error(short);
    await keys.revoke(record.id);
    const isRefused = async () => (await send('GET', RECEIVERS, { key: short.token })).status === 401;
    await waitFor('the link to expire', isRefused, { until: Boolean });
    for (const ended of [token, short.token, token.slice(0, -1), 'hrlp_']) {
      const answer = await send('GET', RECEIVERS, { key: ended });
      expect(problemOf(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
      expect(problemOf(answer).detail).toMatch(/^this link has ended/);
    }
  });

  test('a link never outlives the key that made it', async () => {
    const { herald, workspace } = scene;
    const expiresAt = Date.now() + 120_000;
    const { key } = await createApiKeyStore({ redis: herald.redis, now: Date.now }).create({
      workspaceId: workspace.id,
      scopes: ['webhooks'],
      expiresAt,
    });
    const made = await send('POST', '/api/public/portal-links', { key, body: { expiresInSeconds: 86_400 } });
    expect(bodyOf(made, 201)).toMatchObject({ expiresAt: new Date(expiresAt).toISOString() });
  });

  test('a repeated request gets its answer without the token', async () => {
    const headers = { 'idempotency-key': 'the-same-link' };
    const first = bodyOf(await createLink({}, headers), 201) as PortalLink;
    const { id, expiresAt, readOnly } = first;
    const again = await createLink({}, headers);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body).toEqual({ id, expiresAt, readOnly });
    expect(toText(await dumpRedis(scene.herald.redis))).not.toContain(first.token);
  });

  test('statistics of a receiver and of its workspace have every bucket', async () => {
    const { token } = await linkOf({ readOnly: true });
    const [receiver] = (await scene.workspace.listReceivers()).webhooks;
    for (const path of [`${RECEIVERS}/${receiver?.id ?? ''}/stats`, '/api/public/stats']) {
      for (const [window, bucketSeconds, count] of [
        ['1h', 60, 60],
        ['24h', 900, 96],
        ['7d', 7_200, 84],
      ] as const) {
        const stats = (await send('GET', `${path}?window=${window}`, { key: token })).body as {
          buckets: { failedAttempts: number }[];
        };
        expect(stats).toMatchObject({
          window,
          bucketSeconds,
          totals: { delivered: 0, failedAttempts: 2, successRate: 0 },
        });
        expect(stats.buckets).toHaveLength(count);
      }
    }
  });
});
