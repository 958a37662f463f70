import { startPlain } from '@herald/test-kit';
import { createHistoryPool, withClient } from './create-history-pool.ts';

/** A message of PostgreSQL's protocol: its letter, its length with itself, its content. */
function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const SHUTTING_DOWN = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

test('a server that goes in the packet in which it opened the connection fails the next statement, and nothing else', async () => {
  await using server = await startPlain((socket) => {
    socket.once('data', () => socket.write(Buffer.concat([AUTHENTICATED, READY, SHUTTING_DOWN])));
  });
  const pool = createHistoryPool({
    url: `postgres://herald@127.0.0.1:${server.port}/herald`,
    name: 'test',
    connections: 1,
    statementLimitMs: 1_000,
    onError: () => undefined,
  });
  await expect(withClient(pool, true, (client) => client.query('SELECT 1'))).rejects.toThrow('not queryable');
  expect(pool.countOpen()).toBe(0);
  await pool.end();
});
