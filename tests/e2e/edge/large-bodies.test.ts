import { waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

const BODY_BYTES = 262_144;
/** As many as one key may have under way. */
const COUNT = 128;

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());

/** A request that announces a large body, or one in chunks, and waits with the rest of it. */
async function begin(key: string, length: string, path = '/tasks'): Promise<Socket> {
  const socket = connect(Number(new URL(herald.apis[0]?.origin ?? '').port), '127.0.0.1');
  socket.on('error', () => undefined); // the API may go first
  await once(socket, 'connect');
  const head = `host: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${length}\r\n`;
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n`);
  return socket;
}

test.each([
  ['announced', `content-length: ${BODY_BYTES}`],
  ['in chunks', 'transfer-encoding: chunked'],
])(
  'large bodies of one key that are under way are bounded (%s); it can still read, and other keys write',
  async (_name, length) => {
    const [slow, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
    const sockets = await Promise.all(Array.from({ length: COUNT }, () => begin(slow.key, length)));
    const create = () => slow.request('POST', '/tasks', { body: {} });
    try {
      await waitFor('the key to have its fill', async () => {
        // One that comes while a small request is under way may find no room: another takes its place.
        sockets.push(await begin(slow.key, length));
        return (await create()).status === 429;
      });
      const refused = await create();
      expect(problemOf(refused)).toMatchObject({
        code: 'rate_limited',
        detail: expect.stringContaining('large') as string,
      });
      expect(refused.headers).toMatchObject({ 'retry-after': '1' });
      expect((await slow.request('GET', '/api/public/webhooks')).status).toBe(200);
      expect((await other.request('POST', '/tasks', { body: {} })).status).toBe(201);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await waitFor('room for new bodies', async () => (await create()).status === 201);
  },
);

test('the large bodies of all keys and links of a workspace draw from one budget', async () => {
  const [mine, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const second = await herald.createKey(mine.id, ['webhooks']);
  const linkOf = async () =>
    (bodyOf(await mine.request('POST', '/api/public/portal-links', { body: {} }), 201) as { token: string }).token;
  const callers = [second, await linkOf(), await linkOf(), await linkOf()];
  const length = `content-length: ${BODY_BYTES}`;
  const sockets: Socket[] = [];
  const fill = async (count: number) => {
    const begun = Array.from({ length: count }, (_, index) =>
      begin(callers[index % callers.length] ?? second, length, '/api/public/webhooks'),
    );
    sockets.push(...(await Promise.all(begun)));
  };
  const create = () => mine.request('POST', '/tasks', { body: {} });
  try {
    await fill(COUNT);
    await waitFor('the workspace to have its fill', async () => {
      await fill(1);
      return (await create()).status === 429;
    });
    // No more than one budget was taken: each of the four has less than half of it.
    expect(sockets.length).toBeLessThan(COUNT * 2);
    expect((await create()).status).toBe(429);
    expect((await other.request('POST', '/tasks', { body: {} })).status).toBe(201);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await waitFor('room for new bodies', async () => (await create()).status === 201);
});
