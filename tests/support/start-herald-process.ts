import { startProcess, type ProcessExit, type RunningProcess } from '@herald/test-kit';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Role = 'api' | 'worker';

const REPOSITORY = new URL('../../', import.meta.url);

/** What is started, and as whom. */
export interface Installation {
  /** Folder that holds `apps/`; default: this repository. */
  readonly folder?: string;
  /** User and group; default: our own. */
  readonly uid?: number;
  /** Of a former release. Its answers need not be as this build documents them. */
  version?: string;
}

/** A built entry point, as it is started in production. */
export function entryPoint(app: Role | 'cli', folder = fileURLToPath(REPOSITORY)): string {
  return join(folder, 'apps', app, 'dist', 'main.js');
}

export interface HeraldProcess {
  readonly name: string;
  readonly role: Role;
  /** Of the API, or of the worker's health page. */
  readonly origin: string;
  readonly process: RunningProcess;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and waits until it is gone. */
  stop(): Promise<ProcessExit>;
  /** Whether the test itself killed it. */
  wasKilled(): boolean;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Starts the built process on a port that the system chooses, and waits until it says that it has started. */
export async function startHeraldProcess(
  role: Role,
  name: string,
  env: Env,
  { folder, uid }: Installation = {},
): Promise<HeraldProcess> {
  let port: number | undefined;
  const running = await startProcess({
    name,
    command: process.execPath,
    args: [entryPoint(role, folder)],
    ...(folder !== undefined && { cwd: folder }),
    ...(uid !== undefined && { uid }),
    env: { LOG_LEVEL: 'debug', ...(role === 'api' ? { PORT: '0' } : { WORKER_PORT: '0' }), ...env },
    readyWhen: (line) => {
      port ??= readPort(line, role);
      return port !== undefined;
    },
  });
  let killed = false;
  return {
    name,
    role,
    origin: `http://127.0.0.1:${port ?? 0}`,
    process: running,
    async kill() {
      killed = true;
      running.kill('SIGKILL');
      await running.exited;
    },
    stop: () => running.stop(),
    wasKilled: () => killed,
  };
}

function readPort(line: string, role: Role): number | undefined {
  if (!line.includes(`"${role}.started"`)) return undefined;
  const { port, healthPort } = JSON.parse(line) as { port?: number; healthPort?: number };
  return port ?? healthPort;
}
