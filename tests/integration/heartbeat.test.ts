import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { startRedis, waitFor, type RunningRedis } from '@herald/test-kit';
import { startHeartbeat } from '../../packages/store/src/redis/open-connections.ts';

async function start(server: RunningRedis, use: 'request' | 'background', url = server.url) {
  const redis = await connectRedis({ target: { kind: 'single', url }, use, name: 'test', onError: () => undefined });
  const heartbeat = startHeartbeat(redis, 'commands');
  const close = async () => {
    heartbeat.stop();
    await closeRedis(redis, true);
  };
  return { redis, heartbeat, [Symbol.asyncDispose]: close };
}

test.each(['request', 'background'] as const)(
  'a server that hangs is silent for as long as a connection for %s waits for it, also when questions are given up meanwhile',
  async (use) => {
    await using server = await startRedis();
    await using held = await start(server, use);
    const { redis, heartbeat } = held;
    await redis.ping();
    expect(heartbeat.isSilent()).toBe(false);

    process.kill(server.pid, 'SIGSTOP');
    const isKnown = () => heartbeat.isSilent() || redis.status !== 'ready';
    await waitFor('the silence to be noticed', isKnown, 5_000);
    expect(redis.status).toBe('ready');
    // `socketTimeout` is 6 s, and `commandTimeout` 5 s.
    await waitFor('the connection to be given up', () => {
      if (!isKnown()) throw new Error('the silence was forgotten');
      return redis.status !== 'ready';
    });
    process.kill(server.pid, 'SIGCONT');
    await waitFor('the server to answer again', () => redis.status === 'ready' && !heartbeat.isSilent(), 20_000);
    const answeredAt = heartbeat.lastAnswerAt();
    await waitFor('one more answer', () => heartbeat.lastAnswerAt() > answeredAt);
  },
  60_000,
);

test('a server that refuses the question has answered it', async () => {
  await using server = await startRedis();
  await using owner = await start(server, 'request');
  await owner.redis.call('ACL', 'SETUSER', 'few', 'on', '>pass', '~*', '&*', '+@all', '-ping');
  const url = server.url.replace('//', '//few:pass@');
  await using held = await start(server, 'request', url);
  await expect(held.redis.ping()).rejects.toThrow('NOPERM');
  const from = held.heartbeat.lastAnswerAt();
  await waitFor('an answer', () => held.heartbeat.lastAnswerAt() > from);
  expect(held.heartbeat.isSilent()).toBe(false);
});
