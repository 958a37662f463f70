import { hasCode } from '@herald/test-kit';
import type { HeraldProcess } from './start-herald-process.ts';

/** Stops what still runs; throws when a process ended by itself, didn't exit with 0, or is still there. */
export async function stopProcesses(processes: readonly HeraldProcess[]): Promise<void> {
  const ends = await Promise.allSettled(
    processes.map(async (each) => {
      const { code, signal } = await each.stop();
      if (code === 0 || each.wasKilled()) return;
      throw new Error(`${each.name} ended with ${signal ?? `exit code ${code ?? 'unknown'}`}\n${each.process.tail()}`);
    }),
  );
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  const left = processes.filter(({ process: { pid } }) => isThere(pid) || isThere(-pid));
  if (left.length > 0) failures.push(new Error(`still running: ${left.map(({ name }) => name).join(', ')}`));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
}

/** Whether a process, or (negative) any process of a group, is there. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}
