import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '@herald/test-kit';
import type { LocalFolder } from './local-folder.ts';

/** A file that `npm start` writes while it runs, for `npm run demo` and for a second `npm start`. */
export interface RunningService {
  pid: number;
  apiUrl: string;
}

/** The service that runs from this folder, or undefined. The file of a killed service doesn't count. */
export async function findRunningService(folder: Pick<LocalFolder, 'read'>): Promise<RunningService | undefined> {
  const text = await folder.read('running.json');
  if (text === undefined) return undefined;
  const service = JSON.parse(text) as RunningService;
  return isAlive(service.pid) ? service : undefined;
}

/** Claims the folder until this process ends: a second service would destroy the append-only file, and is refused. */
export async function claimFolder(folder: LocalFolder, apiUrl: string): Promise<void> {
  const other = await findRunningService(folder);
  if (other !== undefined) {
    throw new Error(
      `Herald already runs from ${folder.dir}, as process ${other.pid}, at ${other.apiUrl}. ` +
        `If that process is something else, remove ${join(folder.dir, 'running.json')}.`,
    );
  }
  await folder.write('running.json', JSON.stringify({ pid: process.pid, apiUrl } satisfies RunningService));
  process.once('exit', () => {
    rmSync(join(folder.dir, 'running.json'), { force: true });
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM'); // somebody else's, and alive
  }
}
