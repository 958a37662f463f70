import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, messageOf } from './free-port.ts';
import { findPostgres } from './find-programs.ts';
import { type LaunchedProcess, type LaunchOptions, launchProcess, startProcess } from './start-process.ts';

export interface PostgresOptions {
  /** Further settings, such as `{ max_connections: '10' }`. */
  settings?: Readonly<Record<string, string>>;
  /** Writes are on the disk before they are acknowledged, as in production. Default false. */
  fsync?: boolean;
  /** A standby without a primary, which takes no writes. Default false. */
  isStandby?: boolean;
}

export interface RunningPostgres extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Stops it and doesn't start it: connections are cut off. */
  stop(): Promise<void>;
  /** Stops it if it runs, and starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Stops it, and removes its folder. May be called twice. */
  close(): Promise<void>;
}

/** PostgreSQL refuses to run as root. This user owns nothing. */
const NOBODY = 65_534;
const TRIES = 5;
/** Where a new cluster is kept. */
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/herald-postgres');
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  shared_buffers: '32MB',
};

/** Starts a real PostgreSQL with a new cluster on a loopback port. It ends with this process, however that ends. */
export async function startPostgres(options: PostgresOptions = {}): Promise<RunningPostgres> {
  const folder = findPostgres();
  if (folder === undefined) throw new Error('there is no PostgreSQL server; install postgresql');
  const dir = await mkdtemp(join(tmpdir(), 'herald-postgres-'));
  const remove = () => rm(dir, { recursive: true, force: true });
  try {
    const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    if (user.uid !== undefined) await chown(dir, user.uid, user.uid);
    const launch = { ...user, cwd: dir, env: { LC_ALL: 'C', TZ: 'UTC' } };
    await createCluster({ ...launch, name: 'initdb', command: join(folder, 'initdb') }, dir);
    if (options.isStandby === true) await writeFile(join(dir, 'data', 'standby.signal'), '');
    const program = { ...launch, name: 'postgres', command: join(folder, 'postgres') };
    let { port, server } = await startServer(program, join(dir, 'data'), options);
    const end = async (signal: NodeJS.Signals) => {
      server.kill(signal);
      await server.exited;
    };
    const close = async () => {
      await end('SIGQUIT');
      await remove();
    };
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      port,
      get pid() {
        return server.pid;
      },
      kill: () => end('SIGKILL'),
      stop: () => end('SIGINT'),
      async restart() {
        await end('SIGINT');
        ({ port, server } = await startServer(program, join(dir, 'data'), options, port));
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Makes a new cluster in the folder `data` of a folder. It is made once for this repository, and copied: a copy takes a
 * tenth of the processor time.
 */
async function createCluster(initdb: LaunchOptions, dir: string): Promise<void> {
  const { mtimeMs } = statSync(initdb.command);
  const kept = join(CACHE, `${initdb.command}-${mtimeMs}-${initdb.uid ?? ''}`.replaceAll(/[^\w.]+/g, '-'));
  const data = join(dir, 'data');
  if (existsSync(kept)) {
    await copy(kept, data);
    return;
  }
  const args = ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  await succeed({ ...initdb, args });
  await mkdir(CACHE, { recursive: true });
  const made = `${kept}.${randomUUID()}`;
  await copy(data, made);
  // Somebody else may have been first.
  await rename(made, kept).catch(() => rm(made, { recursive: true }));
}

/** With owners and rights, which PostgreSQL looks at. */
async function copy(from: string, to: string): Promise<void> {
  await succeed({ name: 'cp', command: 'cp', args: ['-a', from, to] });
}

async function succeed(launch: LaunchOptions): Promise<void> {
  const launched = await launchProcess(launch);
  const { code } = await launched.exited;
  if (code !== 0) throw new Error(`${launch.name} failed\n${launched.tail()}`);
}

async function startServer(
  program: LaunchOptions,
  data: string,
  { settings = {}, fsync = false }: PostgresOptions,
  givenPort?: number,
): Promise<{ port: number; server: LaunchedProcess }> {
  for (let tries = 1; ; tries++) {
    const port = givenPort ?? (await freePort());
    const all = { ...SETTINGS, port: String(port), fsync: fsync ? 'on' : 'off', ...settings };
    const args = ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    try {
      const readyWhen = (line: string) => /database system is ready to accept (read-only )?connections/.test(line);
      return { port, server: await startProcess({ ...program, args, readyWhen, keptLines: 200 }) };
    } catch (error) {
      // Processes of a killed server end by themselves, a moment after it.
      const mayPass = /address already in use|shared memory block/i.test(messageOf(error));
      if (!mayPass || tries >= TRIES) throw error;
      if (givenPort !== undefined) await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
