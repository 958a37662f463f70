import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startRedis, type RunningRedis } from './start-redis.ts';

/** One command on a connection of its own, as it is typed. */
async function say(redis: RunningRedis, command: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: redis.port });
  socket.end(`${command}\r\nQUIT\r\n`);
  const reply = await text(socket);
  return (
    reply
      .replace(/\r\n\+OK\r\n$/, '')
      .split('\r\n')
      .at(-1) ?? ''
  );
}

test('with an append-only file, what was acknowledged survives a kill and a restart on the same port', async () => {
  await using redis = await startRedis({ appendonly: true });
  const { port, pid } = redis;
  expect(await say(redis, 'SET kept yes')).toBe('+OK');
  await redis.kill();
  await redis.restart();
  expect(await say(redis, 'GET kept')).toBe('yes');
  expect(redis.port).toBe(port);
  expect(redis.pid).not.toBe(pid);
});

test('without one, a kill forgets everything', async () => {
  await using redis = await startRedis();
  await say(redis, 'SET kept yes');
  await redis.kill();
  await redis.restart();
  expect(await say(redis, 'GET kept')).toBe('$-1');
});

test.each([
  ['maxmemory-policy', 'noeviction'],
  ['appendfsync', 'everysec'],
  ['hash-max-listpack-value', '512'],
])('%s is %s', async (name, value) => {
  await using redis = await startRedis({ appendonly: true });
  expect(await say(redis, `CONFIG GET ${name}`)).toBe(value);
});

test('servers started at once get ports of their own', async () => {
  const servers = await Promise.all(Array.from({ length: 8 }, () => startRedis()));
  await Promise.all(servers.map((redis) => redis.close()));
  expect(new Set(servers.map(({ port }) => port)).size).toBe(8);
});

test('one that outlives a full disk ignores that its files grew too large', async () => {
  await using redis = await startRedis({ outlivesFullDisk: true });
  process.kill(redis.pid, 'SIGXFSZ');
  expect(await say(redis, 'PING')).toBe('+PONG');
});

test('closing removes the temporary folder and may be repeated', async () => {
  const redis = await startRedis();
  await access(redis.dir);
  await redis.close();
  await redis.close();
  await expect(access(redis.dir)).rejects.toThrow('ENOENT');
});

test('a taken port is refused with what redis said, though a server answers there', async () => {
  await using first = await startRedis();
  await expect(startRedis({ port: first.port })).rejects.toThrow(/redis ended before[^]*Address already in use/);
});
