import { createFindRunning, createProcessPresence, type ProcessPresence } from '@herald/store/data/find-running';
import { mastersOf } from '@herald/store/redis/connect-redis';
import { startStores } from '../../support/start-stores.ts';

/** @param onWatch is called when a sign is watched */
const start = async (onWatch: (presence: ProcessPresence) => void = () => undefined) => {
  await using cleanUp = new AsyncDisposableStack();
  const { redis, second } = cleanUp.use(await startStores());
  const presence = createProcessPresence(redis, Date.now);
  const watched: number[] = [];
  const find = createFindRunning({
    redis,
    presence,
    goneAfterMs: 400,
    onWatch: (processes) => {
      watched.push(processes);
      onWatch(presence);
    },
  });
  const stack = cleanUp.move();
  const [other = second.redis] = mastersOf(second.redis);
  return { presence, watched, find, other, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

test('where nothing runs and nothing was left, nobody waits', async () => {
  await using running = await start();
  expect(await running.find()).toEqual([]);
  expect(running.watched).toEqual([]);
});

test('the sign of a process that was killed is watched until it can no longer be alive, and once only', async () => {
  await using running = await start();
  await running.presence.show('worker', 'killed');
  expect(await running.find()).toEqual([]);
  expect(await running.find()).toEqual([]);
  expect(running.watched).toEqual([1]);
});

test('a process that shows itself meanwhile is alive, whatever its clock says', async () => {
  await using running = await start((presence) => void presence.show('api', 'new'));
  await running.presence.show('worker', 'slow');
  expect(await running.find()).toEqual(['api:4:new']);
});

test('others that reshard are seen by their connections', async () => {
  await using running = await start();
  await running.other.client('SETNAME', 'herald-shards-move');
  expect(await running.find()).toEqual([expect.stringMatching(/^herald-shards-move at /)]);
});
