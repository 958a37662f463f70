import { rmSync } from 'node:fs';
import { isAlive, readRunningService, runningFileOf, type RunningService } from '@herald/config/running-service';
import type { LocalFolder } from './local-folder.ts';

/** The service that runs from this folder, or undefined. The file of a killed service doesn't count. */
export function findRunningService(dir: string): RunningService | undefined {
  const service = readRunningService(dir);
  return service && isAlive(service) ? service : undefined;
}

/** A second service from one folder would destroy the append-only file. @throws Error when there is one */
export function refuseSecondService(dir: string): void {
  const other = findRunningService(dir);
  if (other === undefined) return;
  throw new Error(
    `Herald already runs from ${dir}, as process ${other.pid}, at ${other.apiUrl}. ` +
      `If that process is something else, remove ${runningFileOf(dir)}.`,
  );
}

/** Claims the folder until this process ends. @throws Error when a service runs from it */
export async function claimFolder(folder: LocalFolder, apiUrl: string): Promise<void> {
  refuseSecondService(folder.dir);
  await announceService(folder, { pid: process.pid, apiUrl });
  process.once('exit', () => {
    rmSync(runningFileOf(folder.dir), { force: true });
  });
}

/** Writes what others need to find the service. */
export async function announceService(folder: Pick<LocalFolder, 'write'>, service: RunningService): Promise<void> {
  await folder.write('running.json', JSON.stringify(service));
}
