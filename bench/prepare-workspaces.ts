import { forEachOf, openApiClient } from './api-client.ts';
import { createKeys } from './create-keys.ts';
import type { HeraldEnv } from './start-herald.ts';

export type WorkspacePlan = {
  readonly id: string;
  readonly receivers: readonly {
    readonly url: string;
    readonly events?: readonly string[];
    readonly ordering?: 'none' | 'task';
  }[];
  readonly tasks: number;
  /** The callback of the n-th Task, if it has one. */
  readonly callbackUrl?: (index: number) => string;
};

export type PreparedWorkspace = { readonly id: string; readonly key: string; readonly taskIds: readonly string[] };
export type Prepared = { readonly executorKey: string; readonly workspaces: readonly PreparedWorkspace[] };

const CONNECTIONS = 16;

/** Registers receivers and creates Tasks, all through the API, each with its workspace's own key. */
export async function prepareWorkspaces(
  apiPort: number,
  env: HeraldEnv,
  plans: readonly WorkspacePlan[],
): Promise<Prepared> {
  const ids = plans.map(({ id }) => id);
  const { executorKey, workspaceKeys } = await createKeys(env, ids);
  const workspaces: PreparedWorkspace[] = [];
  for (const { id, receivers, tasks, callbackUrl } of plans) {
    const key = workspaceKeys.get(id) ?? '';
    await using client = openApiClient({ port: apiPort, key, connections: CONNECTIONS });
    for (const receiver of receivers) await client.call('POST', '/api/public/webhooks', receiver);
    const taskIds = new Array<string>(tasks);
    await forEachOf([...taskIds.keys()], CONNECTIONS, async (index) => {
      const body = callbackUrl ? { callback: { url: callbackUrl(index) } } : {};
      taskIds[index] = ((await client.call('POST', '/tasks', body)) as { id: string }).id;
    });
    workspaces.push({ id, key, taskIds });
  }
  return { executorKey, workspaces };
}
