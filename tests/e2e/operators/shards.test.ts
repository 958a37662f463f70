import { createKeyspace } from '@herald/store/keys/keys';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald } from '../../support/start-herald.ts';

test('with several shards each has its queue, with what failed there', async () => {
  await using herald = await startHerald({ env: { ...OPERATOR_ENV, SHARDS: '3', RETRY_SCHEDULE: '' } });
  const operator = createOperatorClient(herald);
  const receiver = await herald.startReceiver([500]);
  const { shards, of } = createKeyspace(3);
  const failed: string[][] = shards.map(() => []);
  for (let index = 0; index < 8; index++) {
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    const id = (await client.emit()).to(registered);
    await client.waitForStatus(id, 'failed');
    failed[shards.findIndex(({ prefix }) => prefix === of(workspace.id).prefix)]?.unshift(id);
  }
  const names = shards.map((_, shard) => `shard-${shard}.deliveries`);
  expect((await operator.readQueues()).map(({ name }) => name)).toEqual(names);
  for (const [shard, name] of names.entries()) {
    const queue = await operator.readQueue(name, 'failed');
    expect({ count: queue.counts.failed, ids: queue.jobs.map(({ id }) => id) }).toEqual({
      count: failed[shard]?.length,
      ids: failed[shard],
    });
    for (const [other, ids] of failed.entries()) {
      const [id] = ids;
      if (id === undefined) continue;
      const { status } = await operator.request('GET', `/api/queues/${name}/${id}`);
      expect({ name, other, status }).toEqual({ name, other, status: other === shard ? 200 : 404 });
    }
  }
});
