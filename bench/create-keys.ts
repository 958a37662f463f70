import { startProcess } from '@herald/test-kit';
import { forEachOf } from './api-client.ts';
import { programOf } from './builds.ts';
import type { HeraldEnv } from './start-herald.ts';

export type BenchKeys = {
  readonly executorKey: string;
  /** By workspace id. */
  readonly workspaceKeys: ReadonlyMap<string, string>;
};

/** Processes of the CLI at a time: each takes a second to start. */
const AT_A_TIME = 2;

/** Makes API keys with the CLI of the measured build, which knows how it stores them. */
export async function createKeys(env: HeraldEnv, workspaceIds: readonly string[]): Promise<BenchKeys> {
  const workspaceKeys = new Map<string, string>();
  let executorKey = '';
  await forEachOf([undefined, ...workspaceIds], AT_A_TIME, async (workspaceId) => {
    if (workspaceId === undefined) executorKey = await createKey(env, ['--executor']);
    else workspaceKeys.set(workspaceId, await createKey(env, ['--workspace', workspaceId]));
  });
  return { executorKey, workspaceKeys };
}

/** Without scopes a workspace's key has all of them. */
async function createKey({ build, variables }: HeraldEnv, owner: readonly string[]): Promise<string> {
  await using cli = await startProcess({
    name: 'cli',
    command: process.execPath,
    args: [programOf(build, 'cli'), 'keys', 'create', ...owner],
    env: variables,
    cwd: build.folder,
  });
  const { code } = await cli.exited;
  const [key] = cli.stdout;
  if (code !== 0 || key === undefined) throw new Error(`the CLI made no key\n${cli.tail()}`);
  return key;
}
