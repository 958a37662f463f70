import { startProcess } from '@herald/test-kit';
import {
  type ApiClient,
  checkIn,
  forEachOf,
  openApiClient,
  report,
  type ReportedItem,
  reportInBatches,
  START,
} from './clients.ts';
import { type HeraldEnv, programOf } from './start-herald.ts';

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
type Prepared = { readonly executorKey: string; readonly workspaces: readonly PreparedWorkspace[] };

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

type BenchKeys = {
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

type RunningTasks = AsyncDisposable & {
  readonly executor: ApiClient;
  /** Reports a number of check-ins, in turn for every Task. Each is a new fact. */
  readonly checkIn: (transitions: number) => Promise<void>;
};

type RunningTasksOptions = {
  readonly apiPort: number;
  readonly env: HeraldEnv;
  /** Origins of the receivers, up to ten of them for each workspace. */
  readonly origins: readonly string[];
  readonly tasks: number;
  /** Prefix of their workspaces' ids. */
  readonly workspace?: string;
  /** Default: in batches of 100. Singly: each by a request of its own, 64 at a time. */
  readonly reports?: 'batches' | 'singly';
};

const RECEIVERS_PER_WORKSPACE = 10;
const BATCH = 100;
const WIDTH = 8;
const WIDTH_SINGLY = 64;

/** Running Tasks, of as many workspaces as the receivers need. */
export async function startTasks(options: RunningTasksOptions): Promise<RunningTasks> {
  const { apiPort, env, origins, tasks, workspace: name = 'ws_bench', reports = 'batches' } = options;
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
  const width = reports === 'singly' ? WIDTH_SINGLY : WIDTH;
  const executor = openApiClient({ port: apiPort, key: executorKey, connections: width });
  const inBatches = (items: readonly ReportedItem[]) => reportInBatches(executor, items, { batch: BATCH, width });
  const singly = (items: readonly ReportedItem[]) => forEachOf(items, width, (item) => report(executor, item));
  await inBatches(taskIds.map((taskId) => ({ taskId, report: START })));
  let next = 0;
  return {
    executor,
    checkIn: (transitions) =>
      (reports === 'singly' ? singly : inBatches)(
        Array.from({ length: transitions }, () => {
          const index = next++;
          return { taskId: taskIds[index % taskIds.length] ?? '', report: checkIn(index) };
        }),
      ),
    [Symbol.asyncDispose]: () => executor[Symbol.asyncDispose](),
  };
}
