import { createKeyspace } from '@herald/store/keys/keys';
import { waitFor } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { runApp } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

const SHARDS = 3;

/** A workspace in each shard. */
async function createWorkspaces(herald: Herald): Promise<readonly WorkspaceClient[]> {
  const keyspace = createKeyspace(SHARDS);
  const byShard = new Map<unknown, WorkspaceClient>();
  while (byShard.size < SHARDS) {
    const workspace = await herald.createWorkspace();
    byShard.set(keyspace.of(workspace.id), workspace);
  }
  return keyspace.shards.flatMap((keys) => byShard.get(keys) ?? []);
}

test('a worker serves its shards alone; what lies in another waits for a worker that serves it', async () => {
  await using herald = await startHerald({ workers: 0, env: { SHARDS: String(SHARDS) } });
  await herald.startWorker({ WORKER_SHARDS: '0,2' });
  const workspaces = await createWorkspaces(herald);
  const emitted = await Promise.all(
    workspaces.map(async (workspace) => {
      const receiver = await herald.startReceiver();
      const registered = await workspace.registerReceiver({ url: receiver.url });
      const client = createDeliveryClient(workspace);
      return { receiver, client, id: (await client.emit()).to(registered) };
    }),
  );
  const [first, second, third] = emitted;
  for (const each of [first, third]) await each?.client.waitForStatus(each.id, 'delivered');
  // The first worker has had its turn at everything that it serves.
  expect((await second?.client.read(second.id))?.status).toBe('pending');
  expect(second?.receiver.requests).toEqual([]);
  await herald.startWorker({ WORKER_SHARDS: '1' });
  await second?.client.waitForStatus(second.id, 'delivered');
  await herald.settled();
  for (const { receiver } of emitted) expect(receiver.requests).toHaveLength(1);
});

test('of two workers with the same shards either goes on when the other is killed', async () => {
  await using herald = await startHerald({ workers: 2, env: { SHARDS: String(SHARDS), WORKER_SHARDS: '0-2' } });
  const workspaces = await createWorkspaces(herald);
  await herald.workers[0]?.kill();
  for (const workspace of workspaces) {
    const receiver = await herald.startReceiver();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    const id = (await client.emit()).to(registered);
    await waitFor('the delivery', async () => (await client.read(id)).status === 'delivered', 60_000);
  }
  await herald.settled(60_000);
  expect(herald.workers.filter(({ process }) => !process.hasExited())).toHaveLength(1);
}, 120_000);

test('a worker refuses to start for a shard that there is not', async () => {
  const env = { SHARDS: '2', WORKER_SHARDS: '1-2', SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
  const { code, stderr } = await runApp('worker', env);
  expect(code).toBe(1);
  expect(stderr).toContain('WORKER_SHARDS must name shards from 0 to 1, since SHARDS is 2');
});
