import { openApiClient, type ApiClient } from './api-client.ts';
import { checkIn, reportInBatches, START, type ReportedItem } from './executor.ts';
import { prepareWorkspaces } from './prepare-workspaces.ts';
import type { HeraldEnv } from './start-herald.ts';

export type RunningTasks = AsyncDisposable & {
  readonly executor: ApiClient;
  /** Reports a number of check-ins, in turn for every Task. Each is a new fact. */
  readonly checkIn: (transitions: number) => Promise<void>;
};

export type RunningTasksOptions = {
  readonly apiPort: number;
  readonly env: HeraldEnv;
  /** Origins of the receivers, up to ten of them for each workspace. */
  readonly origins: readonly string[];
  readonly tasks: number;
  /** Prefix of their workspaces' ids. */
  readonly workspace?: string;
};

const RECEIVERS_PER_WORKSPACE = 10;
const BATCH = 100;
const WIDTH = 8;

/** Running Tasks, of as many workspaces as the receivers need. */
export async function startTasks(options: RunningTasksOptions): Promise<RunningTasks> {
  const { apiPort, env, origins, tasks, workspace: name = 'ws_bench' } = options;
  const workspaceCount = Math.max(1, Math.ceil(origins.length / RECEIVERS_PER_WORKSPACE));
  const plans = Array.from({ length: workspaceCount }, (_, index) => ({
    id: `${name}${index}`,
    receivers: origins
      .slice(index * RECEIVERS_PER_WORKSPACE, (index + 1) * RECEIVERS_PER_WORKSPACE)
      .map((origin) => ({ url: `${origin}/hook` })),
    tasks: Math.ceil(tasks / workspaceCount),
  }));
  const { executorKey, workspaces } = await prepareWorkspaces(apiPort, env, plans);
  // One of each workspace in turn.
  const taskIds = Array.from({ length: plans[0]?.tasks ?? 0 }, (_, index) =>
    workspaces.map((workspace) => workspace.taskIds[index] ?? ''),
  ).flat();
  const executor = openApiClient({ port: apiPort, key: executorKey, connections: WIDTH });
  const inBatches = (items: readonly ReportedItem[]) =>
    reportInBatches(executor, items, { batch: BATCH, width: WIDTH });
  await inBatches(taskIds.map((taskId) => ({ taskId, report: START })));
  let next = 0;
  return {
    executor,
    checkIn: (transitions) =>
      inBatches(
        Array.from({ length: transitions }, () => {
          const index = next++;
          return { taskId: taskIds[index % taskIds.length] ?? '', report: checkIn(index) };
        }),
      ),
    [Symbol.asyncDispose]: () => executor[Symbol.asyncDispose](),
  };
}
