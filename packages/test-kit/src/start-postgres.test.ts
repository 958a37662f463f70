import { connect } from 'node:net';
import { once } from 'node:events';
import { startPostgres } from './start-postgres.ts';

/** Whether somebody listens there. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('a killed server comes back on its port, and a closed one is gone', async () => {
  await using postgres = await startPostgres();
  const { port, pid } = postgres;
  expect(postgres.url).toContain(`:${port}/`);
  await postgres.kill();
  await expect(isListening(port)).resolves.toBe(false);
  await postgres.restart();
  expect(postgres.pid).not.toBe(pid);
  await expect(isListening(port)).resolves.toBe(true);
  await postgres.close();
  await expect(isListening(port)).resolves.toBe(false);
});
