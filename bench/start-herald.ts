import { freePort, startProcess, type CertificateAuthority, type RunningProcess } from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeOptionsOf, programOf, THIS_BUILD, type Build } from './builds.ts';

export type HeraldEnv = AsyncDisposable & {
  /** The build whose processes run in it. */
  readonly build: Build;
  readonly variables: Readonly<Record<string, string>>;
  readonly caFile: string;
};

/** The environment that the processes of one run share. */
export async function createHeraldEnv(
  redisUrl: string,
  ca: CertificateAuthority,
  build = THIS_BUILD,
): Promise<HeraldEnv> {
  const folder = await mkdtemp(join(tmpdir(), 'herald-bench-'));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, ca.certPem);
  return {
    build,
    caFile,
    variables: {
      NODE_ENV: 'production',
      NODE_OPTIONS: nodeOptionsOf(build),
      REDIS_URL: redisUrl,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}/actions/{actionVersion}',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_CA_FILE: caFile,
      RATE_LIMIT: '0',
      // Scenarios have millions of deliveries in one workspace. They are counted all the same.
      WORKSPACE_PENDING_LIMIT: '0',
      WORKSPACE_BYTES: '0',
      LOG_LEVEL: 'warn',
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export type HeraldProcessOptions = {
  readonly env: HeraldEnv;
  /** Additional variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** A file for the standard output, as an operator would use, instead of the bench. */
  readonly logFile?: string;
  readonly nodeArgs?: readonly string[];
};

export type HeraldProcess = RunningProcess & { readonly port: number };

export const startApi = (options: HeraldProcessOptions) => startBuilt('api', 'PORT', options);
export const startWorker = (options: HeraldProcessOptions) => startBuilt('worker', 'WORKER_PORT', options);

/** Starts a built process and waits until it says that it is ready. */
async function startBuilt(
  name: 'api' | 'worker',
  portVariable: string,
  { env, variables = {}, logFile, nodeArgs = [] }: HeraldProcessOptions,
): Promise<HeraldProcess> {
  const port = await freePort();
  const command = [process.execPath, ...nodeArgs, programOf(env.build, name)];
  const started = await startProcess({
    name,
    // The process replaces the shell, so that the id, the CPU and the signals are its own.
    ...(logFile === undefined
      ? { command: process.execPath, args: command.slice(1) }
      : { command: '/bin/sh', args: ['-c', 'log=$1; shift; exec "$@" >"$log"', 'sh', logFile, ...command] }),
    env: { ...env.variables, ...variables, [portVariable]: String(port) },
    cwd: env.build.folder,
    keptLines: 1_000,
    readyWhen: `http://127.0.0.1:${port}/readyz`,
  });
  return Object.assign(started, { port });
}
