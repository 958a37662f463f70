import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { createApiKeyStore, type Scope } from '@herald/store/access/api-key-store';
import {
  startReceiver,
  waitFor,
  type CertificateAuthority,
  type Receiver,
  type ReceiverOptions,
  type RedisOptions,
  type RunningRedis,
} from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntilSettled } from './delivery-state.ts';
import { giveFormerText } from './give-former-text.ts';
import { createExecutorClient, type ExecutorClient } from './executor-client.ts';
import { assertWebhook } from './find-webhook-breaches.ts';
import { bodyOf, sendRequest, type HttpAnswer, type RequestOptions } from './http-request.ts';
import {
  startHeraldProcess,
  type Env,
  type HeraldProcess,
  type Installation,
  type Role,
} from './start-herald-process.ts';
import { openSharedAuthority } from './shared-authority.ts';
import { startTopology, topologyOfEnv, type Topology, type TopologyKind } from './start-topology.ts';
import { stopProcesses } from './stop-processes.ts';
import { createWorkspaceClient, type WorkspaceClient } from './workspace-client.ts';

export interface HeraldOptions {
  /** API processes; default 1. */
  apis?: number;
  /** Worker processes; default 1. */
  workers?: number;
  /** On top of what every process gets, such as `{ RETRY_SCHEDULE: '10ms' }`. */
  env?: Env;
  redis?: RedisOptions;
  /** Default: as HERALD_TEST_TOPOLOGY says, one server without it. */
  topology?: TopologyKind;
  /** What the processes are started from; default: this build, as ourselves. */
  installation?: Installation;
  /** Its keys have no id in their texts, so that processes of former releases know them; default: as `installation` says. */
  hasFormerKeys?: boolean;
}

export interface ViaOptions extends RequestOptions {
  /** The API process that gets the request; default: the first one alive. */
  via?: HeraldProcess;
}

export interface Herald extends AsyncDisposable {
  /** The one Redis; in another topology there is none, and a test that needs it fails. */
  readonly server: RunningRedis;
  readonly topology: Topology;
  /** A connection of the test's own. */
  readonly redis: RedisClient;
  readonly ca: CertificateAuthority;
  /** All processes ever started, those that are gone included. */
  readonly apis: readonly HeraldProcess[];
  readonly workers: readonly HeraldProcess[];
  readonly executor: ExecutorClient;
  startApi(env?: Env, from?: Installation): Promise<HeraldProcess>;
  startWorker(env?: Env, from?: Installation): Promise<HeraldProcess>;
  request(method: string, path: string, options?: ViaOptions): Promise<HttpAnswer>;
  /** A key, of a workspace or (without one) of an executor or a platform. */
  createKey(workspaceId: string | undefined, scopes: readonly Scope[]): Promise<string>;
  /** What the platform asks for, with a key of its own, below `/api/platform/workspaces/`. The answer must have the status. */
  askAsPlatform(method: string, path: string, status: number, body?: object): Promise<unknown>;
  /** A new workspace with a key for everything that a customer may do. */
  createWorkspace(via?: HeraldProcess): Promise<WorkspaceClient>;
  /** A receiver whose certificate the workers trust, and which insists on webhooks as documented. Closed with Herald at the latest. */
  startReceiver(respond?: ReceiverOptions['respond']): Promise<Receiver>;
  /** See `waitUntilSettled`. */
  settled(deadlineMs?: number): Promise<void>;
  /** Waits until a process (default: any) has printed this. */
  waitForLog(text: string, by?: HeraldProcess): Promise<void>;
  /** All that all processes have printed. */
  logs(): string;
}

/**
 * The built service on a Redis of its own. Disposing of it stops everything, and throws when a process ended by itself, didn't
 * stop cleanly, or is still there.
 */
export async function startHerald({
  apis = 1,
  workers = 1,
  env = {},
  redis = {},
  topology: kind = topologyOfEnv(),
  installation = {},
  hasFormerKeys = installation.version !== undefined,
}: HeraldOptions = {}): Promise<Herald> {
  const cleanUp = new AsyncDisposableStack();
  try {
    const dir = await mkdtemp(join(tmpdir(), 'herald-e2e-'));
    cleanUp.defer(() => rm(dir, { recursive: true, force: true }));
    await chmod(dir, 0o755); // processes may run as another user
    const [topology, ca] = await Promise.all([startTopology(kind, redis), openSharedAuthority()]);
    cleanUp.use(topology);
    const caFile = join(dir, 'ca.pem');
    await writeFile(caFile, ca.certPem);
    const client = await connectRedis({
      target: topology.target,
      use: 'request',
      name: 'test',
      onError: () => undefined,
    });
    cleanUp.defer(() => closeRedis(client));

    const baseEnv: Env = {
      ...topology.env,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}/actions/{actionVersion}',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_CA_FILE: caFile,
      RATE_LIMIT: '0',
      ...env,
    };
    const processes: HeraldProcess[] = [];
    const ofFormerRelease = new WeakSet<HeraldProcess>();
    cleanUp.defer(() => stopProcesses(processes));
    const all = (role: Role) => processes.filter((each) => each.role === role);
    const counts = { api: 0, worker: 0 };
    const start = async (role: Role, more: Env = {}, from = installation) => {
      const name = `${role}-${++counts[role]}`;
      const started = await startHeraldProcess(role, name, { ...baseEnv, ...more }, from);
      processes.push(started);
      if (from.version !== undefined) ofFormerRelease.add(started);
      processes.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
      return started;
    };
    const roles = [...Array<Role>(apis).fill('api'), ...Array<Role>(workers).fill('worker')];
    const starts = await Promise.allSettled(roles.map((role) => start(role)));
    for (const started of starts) if (started.status === 'rejected') throw started.reason;

    const request = (method: string, path: string, { via, ...options }: ViaOptions = {}) => {
      const api = via ?? all('api').find(({ process }) => !process.hasExited());
      if (!api) throw new Error('no API process is alive');
      return sendRequest(api.origin, method, path, { ...options, toFormerRelease: ofFormerRelease.has(api) });
    };
    const keys = createApiKeyStore({ redis: client, now: Date.now });
    const createKey = async (workspaceId: string | undefined, scopes: readonly Scope[]) => {
      const { key, record } = await keys.create({ scopes, ...(workspaceId !== undefined && { workspaceId }) });
      return hasFormerKeys ? await giveFormerText(client, record.id) : key;
    };
    let platformKey: Promise<string> | undefined;
    const executor = createExecutorClient(await createKey(undefined, ['execute']), request);
    const stack = cleanUp.move();
    return {
      topology,
      get server() {
        if (topology.server) return topology.server;
        throw new Error(`this test needs one Redis server, and runs on the topology ${kind}`);
      },
      redis: client,
      ca,
      executor,
      request,
      createKey,
      async askAsPlatform(method, path, status, body) {
        platformKey ??= createKey(undefined, ['platform']);
        const options = { key: await platformKey, ...(body && { body }) };
        return bodyOf(await request(method, `/api/platform/workspaces/${path}`, options), status);
      },
      get apis() {
        return all('api');
      },
      get workers() {
        return all('worker');
      },
      startApi: (more, from) => start('api', more, from),
      startWorker: (more, from) => start('worker', more, from),
      async createWorkspace(via) {
        const id = `ws_${randomBytes(6).toString('hex')}`;
        const send = (method: string, path: string, options: RequestOptions = {}) =>
          request(method, path, { ...options, ...(via && { via }) });
        return createWorkspaceClient(id, await createKey(id, ['webhooks', 'tasks']), send);
      },
      async startReceiver(respond) {
        return stack.use(await startReceiver({ ca, inspect: assertWebhook, ...(respond && { respond }) }));
      },
      settled: (deadlineMs) => waitUntilSettled(client, deadlineMs, Number(env.SHARDS ?? 1)),
      async waitForLog(text, by) {
        const watched = by ? [by] : processes;
        await waitFor(`"${text}" in the log`, () => watched.some((each) => each.process.output().includes(text)));
      },
      logs: () => processes.map(({ process }) => process.output()).join('\n'),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await cleanUp.disposeAsync();
    throw error;
  }
}
