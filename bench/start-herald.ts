import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import {
  type CertificateAuthority,
  freePort,
  type RunningPostgres,
  type RunningProcess,
  type RunningRedis,
  startPostgres,
  startProcess,
  startRedis,
} from '@herald/test-kit';

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

type HeraldProcessOptions = {
  readonly env: HeraldEnv;
  /** Additional variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** A file for the standard output, as an operator would use, instead of the bench. */
  readonly logFile?: string;
  readonly nodeArgs?: readonly string[];
};

type HeraldProcess = RunningProcess & { readonly port: number };

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

/** A built checkout to measure. Load generators, receivers, floors and Redis always come from this checkout. */
export type Build = { readonly name: 'this build' | 'beside'; readonly folder: string };

type HeraldProgram = 'api' | 'worker' | 'cli';

export const THIS_BUILD: Build = { name: 'this build', folder: join(import.meta.dirname, '..') };

const PROGRAMS: readonly HeraldProgram[] = ['api', 'worker', 'cli'];
const OWN_PACKAGES = 'node_modules/@herald';

export function programOf({ folder }: Build, program: HeraldProgram): string {
  return join(folder, 'apps', program, 'dist/main.js');
}

/** Options of Node in the build's image. */
export function nodeOptionsOf({ folder }: Build): string {
  return /^ENV NODE_OPTIONS="?([^"\n]+)"?$/m.exec(readFileSync(join(folder, 'Dockerfile'), 'utf8'))?.[1] ?? '';
}

/**
 * The build to compare with. This checkout itself is allowed: its ratios show the noise.
 * @throws Error with a sentence for the user
 */
export function findBuildBeside(directory: string): Build {
  const build: Build = { name: 'beside', folder: resolve(directory) };
  const refuse = (why: string): never => {
    throw new Error(`--beside ${directory}: ${why}`);
  };
  if (!statSync(build.folder, { throwIfNoEntry: false })?.isDirectory()) refuse('there is no such directory');
  if (!existsSync(join(build.folder, 'Dockerfile'))) refuse('this is no checkout of Herald; it has no Dockerfile');
  if (!existsSync(join(build.folder, OWN_PACKAGES))) refuse('it is not installed. Type there: npm ci');
  const missing = PROGRAMS.map((program) => programOf(build, program)).find((file) => !existsSync(file));
  if (missing !== undefined) refuse(`it is not built, ${missing} is missing. Type there: npm run build`);
  const foreign = findForeignPackage(build);
  // Its processes would run another checkout's code, and the ratio would mean nothing.
  if (foreign !== undefined) refuse(`its packages are those of another checkout (${foreign}). Type there: npm ci`);
  return build;
}

/** The target of a Herald package that is outside the checkout, as with a borrowed node_modules. */
function findForeignPackage({ folder }: Build): string | undefined {
  const inside = realpathSync(folder) + sep;
  const packages = readdirSync(join(folder, OWN_PACKAGES)).map((name) => join(folder, OWN_PACKAGES, name));
  return packages
    .filter((link) => existsSync(link))
    .map((link) => realpathSync(link))
    .find((path) => !path.startsWith(inside));
}

/** When a write reaches the disk: within about a second, or before its answer. */
export const FSYNCS = ['everysec', 'always'] as const;
export type Fsync = (typeof FSYNCS)[number];

/**
 * A Redis as production should have it: AOF synced every second, noeviction, compact hashes; test-kit sets the last
 * two.
 */
export function startBenchRedis(fsync: Fsync = 'everysec'): Promise<RunningRedis> {
  return startRedis({ appendonly: true, args: ['--appendfsync', fsync] });
}

type BenchHistory = AsyncDisposable & { readonly postgres: RunningPostgres; readonly pool: HistoryPool };

/** A PostgreSQL as production should have it: with fsync, and the schema in it. */
export async function startBenchHistory(): Promise<BenchHistory> {
  const postgres = await startPostgres({ fsync: true, settings: { shared_buffers: '256MB' } });
  const pool = createHistoryPool({
    url: postgres.url,
    name: 'bench',
    connections: 4,
    statementLimitMs: 3_600_000,
    onError: () => undefined,
  });
  await prepareHistory(pool, 'write');
  return {
    postgres,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await postgres.close();
    },
  };
}
