import { waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
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
async function begin(key: string, length: string): Promise<Socket> {
  const socket = connect(Number(new URL(herald.apis[0]?.origin ?? '').port), '127.0.0.1');
  socket.on('error', () => undefined); // the API may go first
  await once(socket, 'connect');
  const head = `host: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${length}\r\n`;
  socket.write(`POST /tasks HTTP/1.1\r\n${head}\r\n`);
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
