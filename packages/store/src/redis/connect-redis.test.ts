import { waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { watchSentinels } from './connect-redis.ts';

/** A Sentinel that names a master of this port, and counts how often it was asked. */
async function startSentinel() {
  let [port, asked] = [7_001, 0];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const command of chunk.toString().split(/(?=\*\d+\r\n)/)) {
        const isAsked = command.includes('get-master-addr-by-name');
        if (isAsked) asked++;
        socket.write(isAsked ? `*2\r\n$9\r\n127.0.0.1\r\n$4\r\n${port}\r\n` : '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    asked: () => asked,
    name: (other: number) => {
      port = other;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await once(server.close(), 'close');
    },
  };
}

test('a Sentinel is asked again and again, and each time it names another master is told of', async () => {
  await using sentinel = await startSentinel();
  let switches = 0;
  const target = { sentinels: [sentinel.address], masterName: 'herald' };
  const stop = watchSentinels(target as never, { enableReadyCheck: false }, () => {
    switches++;
  });
  await waitFor('it to be asked three times', () => sentinel.asked() >= 3);
  expect(switches).toBe(0);
  for (const [index, port] of [7_002, 7_001].entries()) {
    sentinel.name(port);
    await waitFor('it to be told of', () => switches === index + 1);
  }
  stop();
});
