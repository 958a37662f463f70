import { createKeyspace } from '@herald/store/keys/keys';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { launchProcess } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { runCli } from '../../support/run-cli.ts';
import { entryPoint } from '../../support/start-herald-process.ts';
import type { Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

/** The environment of an operator's shell. */
export function shellEnv({ topology }: Herald, SHARDS: number) {
  return { ...topology.env, SHARDS: String(SHARDS) };
}

/** `herald shards reshard`, to its end. */
export async function reshardTo(herald: Herald, to: number, SHARDS: number) {
  return await runCli(['shards', 'reshard', '--to', String(to)], shellEnv(herald, SHARDS));
}

/** Of so many kills one comes in time. */
const TRIES = 3;

/** `herald shards reshard`, killed by SIGKILL when records begin to arrive in the last of the new shards. */
export async function killResharding(herald: Herald, to: number, SHARDS: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    await killOnce(herald, to, SHARDS);
    const record = await createShardRecordStore(herald.redis).read();
    if (record.movingTo !== undefined || tries === TRIES) {
      // Or it came too late each time, and proves nothing.
      expect(record).toEqual({ count: SHARDS, movingTo: to, layout: 4 });
      return;
    }
    expect(await reshardTo(herald, SHARDS, to)).toMatchObject({ code: 0 });
  }
}

async function killOnce(herald: Herald, to: number, SHARDS: number): Promise<void> {
  const [last] = createKeyspace(to).shards.slice(-1);
  if (!last) throw new Error('there is a last one');
  await using command = await launchProcess({
    name: 'reshard',
    command: process.execPath,
    env: shellEnv(herald, SHARDS),
    args: [entryPoint('cli'), 'shards', 'reshard', '--to', String(to)],
  });
  // Looks more often than `waitFor` does: all of it takes some tenths of a second.
  for (const endsAt = performance.now() + 15_000; (await herald.redis.exists(last.tasksIn('done'))) === 0;) {
    if (performance.now() > endsAt) throw new Error(`nothing was moved\n${command.tail()}`);
    await pause(1);
  }
  command.kill('SIGKILL');
  await command.exited;
}

/** Workspaces, one in each of so many shards. */
export async function createWorkspaces(herald: Herald, shardCount: number): Promise<readonly WorkspaceClient[]> {
  const keyspace = createKeyspace(shardCount);
  const byShard = new Map<unknown, WorkspaceClient>();
  while (byShard.size < shardCount) {
    const workspace = await herald.createWorkspace();
    byShard.set(keyspace.of(workspace.id), workspace);
  }
  return keyspace.shards.flatMap((keys) => byShard.get(keys) ?? []);
}
