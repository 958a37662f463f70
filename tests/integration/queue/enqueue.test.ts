import { findFaults } from './read-queue.ts';
import { startQueue } from './start-queue.ts';

test('one call adds more jobs of one group than Lua hands to a command at once', async () => {
  await using queue = await startQueue();
  await queue.add(...Array.from({ length: 9_000 }, (_, index) => ({ group: 'g', id: `job${index}` })));
  expect(await queue.redis.zcard(queue.keys.waiting('g'))).toBe(9_000);
  expect(await findFaults(queue)).toEqual([]);
});

test('a group whose name would break the handles of its leases is refused, and nothing of the call is added', async () => {
  await using queue = await startQueue();
  const added = queue.add({ group: 'good', id: 'a' }, { group: 'g|h', id: 'b' });
  await expect(added).rejects.toThrow('the name of a group must not have a "|": g|h');
  expect(await queue.redis.exists(queue.keys.waiting('good'), queue.keys.waiting('g|h'))).toBe(0);
});
