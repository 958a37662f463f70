import { createDeliveryClient } from '../../support/delivery-client.ts';
import { createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald } from '../../support/start-herald.ts';

test('with several shards each has its queues, and backlogs and failures of all are together', async () => {
  await using herald = await startHerald({ env: { ...OPERATOR_ENV, SHARDS: '3', RETRY_SCHEDULE: '' } });
  const operator = createOperatorClient(herald);
  const receiver = await herald.startReceiver([500]);
  const ids: string[] = [];
  for (let index = 0; index < 8; index++) {
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    const id = (await client.emit()).to(registered);
    await client.waitForStatus(id, 'failed');
    ids.unshift(id);
  }
  expect((await operator.readQueues()).map(({ name }) => name)).toEqual([
    ...[0, 1, 2].map((shard) => `shard-${shard}.deliveries`),
    ...['backlogs', 'failed'],
    ...[0, 1, 2].map((shard) => `shard-${shard}.tests`),
  ]);
  const failed = await operator.readQueue('failed');
  expect(failed.counts).toEqual({ failed: ids.length });
  expect(failed.jobs.map(({ id }) => id)).toEqual(ids);
  await expect(operator.readJob('failed', ids[3] ?? '')).resolves.toMatchObject({ job: { id: ids[3] } });
});
