import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { runCli } from '../support/run-cli.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';

/** From the end of the revocation (issued through nobody's API) until every process must refuse. */
const EVERYWHERE_WITHIN_MS = 1_000;

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());

test('a key that two API processes have just been using is refused by both within a second of its revocation', async () => {
  const { key, record } = await createApiKeyStore({ redis: herald.redis, now: Date.now }).create({
    workspaceId: 'ws_revoked',
    scopes: ['webhooks', 'tasks'],
  });
  const statuses = () =>
    Promise.all(
      herald.apis.map(async (via) => (await herald.request('GET', '/api/public/webhooks', { key, via })).status),
    );
  // Whatever a process remembers of a key, it does now.
  for (let count = 0; count < 20; count++) expect(await statuses()).toEqual([200, 200]);
  const { code } = await runCli(['keys', 'revoke', record.id], herald.topology.env);
  expect(code).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, EVERYWHERE_WITHIN_MS));
  expect(await statuses()).toEqual([401, 401]);
});

/** A stream of events as a program reads it. */
async function openStream(origin: string, key: string) {
  const answer = await fetch(`${origin}/api/public/listen`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readUntil = async (part: string | undefined) => {
    while (part === undefined || !text.includes(part)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  await readUntil('event: listening');
  return { toEnd: () => readUntil(undefined) };
}

test('a stream ends at the moment at which its key expires', async () => {
  const expiresAt = Date.now() + 1_500;
  const { key } = await createApiKeyStore({ redis: herald.redis, now: Date.now }).create({
    workspaceId: 'ws_streams',
    scopes: ['webhooks'],
    expiresAt,
  });
  const { toEnd } = await openStream(herald.apis[0]?.origin ?? '', key);
  expect(await toEnd()).toContain('event: end\ndata: {"reason":"key_ended"');
  const lateMs = Date.now() - expiresAt;
  expect(lateMs).toBeGreaterThan(-200);
  expect(lateMs).toBeLessThan(EVERYWHERE_WITHIN_MS);
});

test('the open streams of a key end within a second of its revocation, on every API, and those of another go on', async () => {
  const workspaceId = 'ws_streams';
  const keys = createApiKeyStore({ redis: herald.redis, now: Date.now });
  const [revoked, other] = await Promise.all(
    [1, 2].map(() => keys.create({ workspaceId, scopes: ['webhooks', 'tasks'] })),
  );
  if (!revoked || !other) throw new Error('there are two');
  const open = (key: string) => Promise.all(herald.apis.map(({ origin }) => openStream(origin, key)));
  const [ending, staying] = [await open(revoked.key), await open(other.key)];
  const ends = Promise.all(ending.map(({ toEnd }) => toEnd()));
  const { code, stderr } = await runCli(['keys', 'revoke', revoked.record.id], herald.topology.env);
  const revokedAt = performance.now();
  const texts = await ends;
  expect(performance.now() - revokedAt).toBeLessThan(EVERYWHERE_WITHIN_MS);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const text of texts) expect(text).toContain('event: end\ndata: {"reason":"key_ended"');

  // The last test: nobody is left.
  const stopped = Promise.all(staying.map(({ toEnd }) => toEnd()));
  await Promise.all(herald.apis.map((api) => api.stop()));
  for (const text of await stopped) expect(text).toContain('"reason":"stopping"');
});
