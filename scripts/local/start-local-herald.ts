import { VARIABLES } from '@herald/config/variables';
import { freePort, isPortFree, startProcess, startRedis, type CertificateAuthority } from '@herald/test-kit';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureRedisServer } from './ensure-redis-server.ts';
import type { LocalFolder } from './local-folder.ts';
import { createConsoleLink } from './create-console-link.ts';
import { keepKeys, replaceUnknownKeys } from './local-keys.ts';
import type { LocalSettings } from './local-settings.ts';

/** The user of the local board. */
export const LOCAL_OPERATOR = 'operator';
/** Far more than a trial needs. A full Redis refuses writes instead of taking the machine's memory. */
const LOCAL_REDIS_MEMORY = '1gb';

export interface LocalHeraldOptions {
  /** Of the repository. */
  root: string;
  folder: LocalFolder;
  settings: LocalSettings;
  /** Whether the logs of API and worker go to the terminal. Otherwise only errors quote them. */
  showLogs: boolean;
}

export interface LocalHerald {
  /** The folder of its keys and data. */
  dir: string;
  apiUrl: string;
  workerUrl: string;
  redisUrl: string | undefined;
  /** Herald's variables, as the processes have them. */
  variables: Readonly<Record<string, string>>;
  /** Opens the console, signed in. */
  consoleUrl: string;
  adminUrl: string;
  board: {
    url: string;
    /** The file of the password; undefined when the environment has credentials. */
    passwordFile: string | undefined;
  };
  apiKey: string;
  executorKey: string;
  ca: CertificateAuthority;
  /** Resolves with a sentence when one of the processes ends by itself. */
  died: Promise<string>;
  /** Stops API, worker and Redis, in this order, even when one fails to stop. */
  stop(): Promise<void>;
}

/** Starts Redis, worker and API, in this order. After a failure it stops those that were started. */
export async function startLocalHerald({ root, folder, settings, showLogs }: LocalHeraldOptions): Promise<LocalHerald> {
  const programs = { api: join(root, 'apps/api/dist/main.js'), worker: join(root, 'apps/worker/dist/main.js') };
  const unbuilt = Object.values(programs).find((file) => !existsSync(file));
  if (unbuilt !== undefined) throw new Error(`${unbuilt} is missing. Type: npm run build`);

  await using started = new AsyncDisposableStack();
  const redis = settings.hasRedis ? undefined : started.use(await startLocalRedis(folder));
  const env = {
    SECRETS_KEY: folder.secretsKey,
    ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}/actions/{actionVersion}',
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    EGRESS_CA_FILE: folder.caFile,
    ...(redis && { REDIS_URL: redis.url }),
    ...(!hasOperator(settings) && { OPERATOR_USER: LOCAL_OPERATOR, OPERATOR_PASSWORD: folder.operatorPassword }),
    ...settings.given,
    PORT: String(settings.api.port),
    WORKER_PORT: String(settings.worker.port),
    // One port is enough on one's own machine.
    OPERATOR_PORT: '',
    OPERATOR_HOST: '',
  };
  const keys = await keepKeys(folder, { root, env });
  const start = async (name: 'api' | 'worker') =>
    started.use(
      await startProcess({
        name,
        command: process.execPath,
        args: [programs[name]],
        env,
        cwd: root,
        inheritOutput: showLogs,
        keptLines: 1_000,
        readyWhen: `${settings[name].url}/readyz`,
      }),
    );
  const worker = await start('worker');
  const api = await start('api');
  const knownKeys = await replaceUnknownKeys(keys, settings.api.url, folder, { root, env });
  const consoleLink = await createConsoleLink(settings.api.url, knownKeys.apiKey);

  const running = started.move(); // from here on it is the caller's to stop
  const died = Promise.race(
    Object.entries({ api, worker, ...(redis && { redis }) }).map(async ([name, { exited }]) => {
      const { code, signal } = await exited;
      return `The ${name} process ended by itself (${signal ?? `exit code ${code ?? 'unknown'}`}).`;
    }),
  );
  return {
    dir: folder.dir,
    apiUrl: settings.api.url,
    workerUrl: settings.worker.url,
    redisUrl: redis?.url,
    variables: pickVariables(env),
    consoleUrl: consoleLink.to(),
    adminUrl: `${settings.api.url}/admin`,
    board: {
      url: `${settings.api.url}/admin/queues`,
      passwordFile: hasOperator(settings) ? undefined : folder.operatorPasswordFile,
    },
    ...knownKeys,
    ca: folder.ca,
    died,
    stop: () => running.disposeAsync(),
  };
}

function pickVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set([...VARIABLES.api, ...VARIABLES.worker]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.has(name)));
}

/** Whether the environment has credentials for the board. If one is missing, the API says so. */
function hasOperator({ given }: LocalSettings): boolean {
  return 'OPERATOR_USER' in given || 'OPERATOR_PASSWORD' in given;
}

/** Uses the same port as last time if it is free, so that redis-cli finds it again. */
async function startLocalRedis(folder: LocalFolder) {
  ensureRedisServer();
  const dir = join(folder.dir, 'redis');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const last = Number(await folder.read('redis-port'));
  const port = last > 0 && (await isPortFree(last)) ? last : await freePort();
  const redis = await startRedis({ dir, port, appendonly: true, args: ['--maxmemory', LOCAL_REDIS_MEMORY] });
  await folder.write('redis-port', String(port));
  return redis;
}
