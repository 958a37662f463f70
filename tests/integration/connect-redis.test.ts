import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { askRedis, hasBlockedClient, startRedis, startRedisSentinels, waitFor } from '@herald/test-kit';

const NEVER_MS = 500;

test.each(['request', 'background'] as const)('a client for %s that ended by itself connects again', async (use) => {
  await using server = await startRedis();
  let reconnects = 0;
  const connect = (onReconnect?: () => void) =>
    connectRedis({
      target: { kind: 'single', url: server.url },
      use,
      name: 'test',
      onError: () => undefined,
      ...(onReconnect && { onReconnect }),
    });
  const redis = await connect(() => {
    reconnects++;
  });
  redis.disconnect(); // as the client does to itself when it hears of a failover while it connects
  await waitFor('it to be back', () => reconnects === 1);
  expect(await redis.ping()).toBe('PONG');

  await closeRedis(redis);
  // One that is closed when it is about to do so doesn't.
  const closed = await connect();
  const hasEnded = new Promise<void>((resolve) => closed.once('end', resolve));
  closed.disconnect();
  await hasEnded;
  await closeRedis(closed);
  let attempts = 0;
  closed.on('connecting', () => attempts++);
  await new Promise((resolve) => setTimeout(resolve, NEVER_MS));
  expect([redis.status, closed.status]).toEqual(['end', 'end']);
  expect([reconnects, attempts]).toEqual([1, 0]);
});

test('a client tells of each connection that fails after the first, and once it is closed nothing waits for it', async () => {
  const errors: Error[] = [];
  const server = await startRedis();
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'test',
    onError: (error) => errors.push(error),
  });
  expect(errors).toEqual([]);
  // One that the client would send again, and one that waits for it to be connected.
  const sent = redis.bzpopmin('nothing', 0);
  await waitFor('it to be sent', () => hasBlockedClient(server.port));
  await server[Symbol.asyncDispose]();
  await waitFor('it to be told', () => errors.length > 0);
  expect(errors[0]).toMatchObject({ code: 'ECONNREFUSED' });
  await waitFor('it to wait for its next attempt', () => redis.status === 'reconnecting');
  const waiting = redis.get('key');
  await closeRedis(redis);
  const closed = { status: 'rejected', reason: new Error('Connection is closed.') };
  expect(await Promise.allSettled([sent, waiting, redis.get('key')])).toEqual([closed, closed, closed]);
});

test('a client follows a failover, and leaves no connection to a Sentinel behind', async () => {
  await using sentinels = await startRedisSentinels({});
  const [asked = 0] = sentinels.ports;
  const isWatched = async () => (await askRedis(asked, 'CLIENT LIST')).includes(' name=test ');
  const redis = await connectRedis({
    target: {
      kind: 'sentinel',
      masterName: sentinels.masterName,
      database: 0,
      access: { usesTls: false },
      sentinels: sentinels.ports.map((port) => ({ host: '127.0.0.1', port })),
    },
    use: 'request',
    name: 'test',
    onError: () => undefined,
  });
  const portOf = (info: string) => /tcp_port:(\d+)/.exec(info)?.[1];
  const port = async () => portOf(await redis.info('server').catch(() => ''));
  const oldMaster = await port();
  await waitFor('the Sentinels to be watched', isWatched);

  // Both servers stay: nothing but the Sentinels tells that the other one is the master now.
  await askRedis(asked, `SENTINEL FAILOVER ${sentinels.masterName}`);
  const isNew = (seen: string | undefined) => seen !== undefined && seen !== oldMaster;
  await waitFor('the new master', port, { until: isNew, deadlineMs: 20_000 });
  // Each Sentinel tells of it, and at each the client may connect anew: for that moment it refuses commands.
  const write = async () => await redis.set('key', 'value').catch(String);
  const answer = await waitFor('a write to be taken', write, { until: (each) => each === 'OK' });
  expect(answer).toBe('OK');
  await closeRedis(redis);
  await waitFor('the Sentinels to be left', async () => !(await isWatched()));
}, 60_000);
