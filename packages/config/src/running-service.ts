import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** What `npm start` leaves in its folder while it runs, for `npm run demo`, the CLI and a second `npm start`. */
const RunningService = z.object({
  /** Of `npm start` itself, which ends the others when it ends. */
  pid: z.int().positive(),
  apiUrl: z.string(),
  /** Herald's variables, as its processes have them. Absent until they all run. */
  env: z.record(z.string(), z.string()).optional(),
});
export type RunningService = z.infer<typeof RunningService>;

/** HERALD_DIR, or by default `.herald/` in the repository. */
export function localFolderOf(root: string, env: NodeJS.ProcessEnv): string {
  const given = env.HERALD_DIR ?? '';
  return resolve(root, given === '' ? '.herald' : given);
}

export function runningFileOf(folder: string): string {
  return join(folder, 'running.json');
}

/**
 * The service that was started from this folder, and has not ended in order. Undefined when there is none.
 * @throws Error when the file can't be read, or holds something else
 */
export function readRunningService(folder: string): RunningService | undefined {
  try {
    return RunningService.parse(JSON.parse(readFileSync(runningFileOf(folder), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** False for the file of a service that was killed. */
export function isAlive({ pid }: RunningService): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // somebody else's, and alive
  }
}
