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

/** Share of its memory that a crowded Redis uses: a tenth of the way from 85 % to 95 %, and it grows meanwhile. */
const CROWDED_SHARE = 0.86;
/**
 * What else is in a crowded Redis, in bytes. In one that is nearly empty, a few connections would make the rest of the
 * way, on which more workspaces are refused than the one that holds the most.
 */
const FILLER_BYTES = 64 * 1_048_576;
const FILLER_KEY = 'chaos:filler';
/** Bytes left on a disk that is about to be full. */
const ROOM_BYTES = 4_096;

export function createServerFaults(server: RunningRedis): ServerFaults {
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
          await setMaxmemory(server, 1);
          return;
        case 'crowded':
          await askRedis(server.port, `SETRANGE ${FILLER_KEY} ${FILLER_BYTES} x`);
          await setMaxmemory(server, Math.round((await readUsedMemory(server)) / CROWDED_SHARE));
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
          await setMaxmemory(server, 0);
          return;
        case 'crowded':
          await setMaxmemory(server, 0);
          await askRedis(server.port, `DEL ${FILLER_KEY}`);
          return;
        case 'full-disk':
          await limitFileSize(server.pid, 'unlimited');
      }
    },
  };
}

/** In bytes; 1: nothing more is written, 0: there is no limit. */
export async function setMaxmemory({ port }: RunningRedis, bytes: number): Promise<void> {
  // A new connection: the last fault may have broken the old one.
  await waitFor('Redis to take a memory limit', async () =>
    (await askRedis(port, `CONFIG SET maxmemory ${bytes}`)).startsWith('+OK'),
  );
}

async function readUsedMemory({ port }: RunningRedis): Promise<number> {
  return await waitFor('the memory that Redis uses', async () =>
    Number(/^used_memory:(\d+)/m.exec(await askRedis(port, 'INFO memory'))?.[1] ?? 0),
  );
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
