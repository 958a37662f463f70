import { hasCode, type RunningPostgres } from '@herald/test-kit';
import { readdir, readFile } from 'node:fs/promises';
import type { Link } from './link.ts';
import type { HistoryFault } from './plan.ts';

export type HistoryFaults = AsyncDisposable & {
  begin(fault: HistoryFault): Promise<void>;
  end(fault: HistoryFault): Promise<void>;
};

/** Faults of the server with the history, and of the way to it, one at a time. */
export function createHistoryFaults(postgres: RunningPostgres, link: Link): HistoryFaults {
  return {
    async begin(fault) {
      if (fault === 'kill') await postgres.kill();
      else if (fault === 'stop') await postgres.stop();
      else if (fault === 'pause') await pause(postgres.pid);
      else link.begin(fault);
    },
    async end(fault) {
      if (fault === 'kill' || fault === 'stop') await postgres.restart();
      else if (fault === 'pause') await resume(postgres.pid);
      else link.heal();
    },
    // A server that stands still can't end.
    [Symbol.asyncDispose]: () => resume(postgres.pid),
  };
}

/** The server first: from then on it has no new child. */
async function pause(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  for (const child of await findChildren(pid)) signalIfThere(child, 'SIGSTOP');
}

async function resume(pid: number): Promise<void> {
  for (const child of [...(await findChildren(pid)), pid]) signalIfThere(child, 'SIGCONT');
}

/** Ids of the processes of which this is the parent. */
async function findChildren(pid: number): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(ids.map(readParent));
  return ids.filter((_, index) => parents[index] === pid).map(Number);
}

async function readParent(id: string): Promise<number | undefined> {
  // It may have ended meanwhile.
  const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
  const parent = /^.*\) \S (\d+)/.exec(stat)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
