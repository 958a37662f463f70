import { askRedis, findExecutable, findPostgres, waitFor, type RunningRedis } from '@herald/test-kit';
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerFault } from './plan.ts';

export type ServerFaults = {
  begin(fault: ServerFault): Promise<void>;
  end(fault: ServerFault): Promise<void>;
};

/** Bytes left on a disk that is about to be full. */
const ROOM_BYTES = 4_096;

export function createServerFaults(server: RunningRedis): ServerFaults {
  // A new connection: the last fault may have broken the old one.
  const setMaxmemory = (bytes: number) =>
    waitFor('Redis to take a memory limit', async () =>
      (await askRedis(server.port, `CONFIG SET maxmemory ${bytes}`)).startsWith('+OK'),
    );
  return {
    async begin(fault) {
      switch (fault) {
        case 'kill':
          await server.kill();
          return;
        case 'pause':
          process.kill(server.pid, 'SIGSTOP');
          return;
        case 'full-memory':
          await setMaxmemory(1);
          return;
        case 'full-disk':
          await limitFileSize(server.pid, String((await sizeOfLog(server.dir)) + ROOM_BYTES));
      }
    },
    async end(fault) {
      switch (fault) {
        case 'kill':
          await server.restart();
          return;
        case 'pause':
          process.kill(server.pid, 'SIGCONT');
          return;
        case 'full-memory':
          await setMaxmemory(0);
          return;
        case 'full-disk':
          await limitFileSize(server.pid, 'unlimited');
      }
    },
  };
}

/** @throws Error when the machine lacks something that the runs need */
export function assertFaultsArePossible(needsHistory: boolean): void {
  if (findExecutable('prlimit') === undefined) {
    throw new Error('prlimit, which limits the size of Redis’ files, is not on the PATH; install util-linux');
  }
  if (needsHistory && findPostgres() === undefined) {
    throw new Error('there is no PostgreSQL server for the history; install postgresql, or add --no-history');
  }
}

async function limitFileSize(pid: number, limit: string): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${limit}:unlimited`]);
}

/** The append-only file that grows now. */
async function sizeOfLog(dir: string): Promise<number> {
  const folder = join(dir, 'appendonlydir');
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return Math.max(...sizes);
}
