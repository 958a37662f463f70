import { createHistoryPool, withClient } from '@herald/history/pool/create-history-pool';
import { createPartitions, dayOf, partitionName } from '@herald/history/partitions/partitions';
import { detachPartition } from '@herald/history/sql/history-sql';
import { hasCode, type RunningPostgres } from '@herald/test-kit';
import { readdir, readFile } from 'node:fs/promises';
import type { Link } from './link.ts';
import type { HistoryFault } from './plan.ts';

export type HistoryFaults = AsyncDisposable & {
  begin(fault: HistoryFault): Promise<void>;
  end(fault: HistoryFault): Promise<void>;
};

/** Of the first day whose detaching is cut off, before now; each next one is of the day before. All are over. */
const OLD_DAYS = 1_000;
/** The detaching waits for the reader, and PostgreSQL ends it after so long, in ms. */
const DETACH_LIMIT_MS = 500;
/**
 * The limit, also of making the day beside a worker that stands still; another detaching that was cut off and nobody has
 * finished yet; a worker has dropped the day already.
 */
const CUT_OFF = ['57014', '55000', '42P01'];

/** Faults of the server with the history, and of the way to it, one at a time. */
export function createHistoryFaults(postgres: RunningPostgres, link: Link): HistoryFaults {
  let oldDay = dayOf(Date.now()) - OLD_DAYS;
  let release: (() => Promise<void>) | undefined;
  const hold = async (isDetachCut: boolean): Promise<void> => {
    const pool = createHistoryPool({
      url: postgres.url,
      name: 'chaos reader',
      connections: 2,
      statementLimitMs: 30_000,
      onError: () => undefined,
    });
    release = () => pool.end();
    try {
      if (isDetachCut) await createPartitions(pool).ensure([--oldDay]);
      const reader = await pool.connect();
      release = async () => {
        reader.release(true);
        await pool.end();
      };
      await reader.query('BEGIN; SELECT count(*) FROM herald.deliveries; SELECT count(*) FROM herald.transitions');
      if (!isDetachCut) return;
      await withClient(pool, false, async (cutter) => {
        await cutter.query(`SET statement_timeout = ${DETACH_LIMIT_MS}`);
        await cutter.query(detachPartition('deliveries', partitionName('deliveries', oldDay)));
      });
    } catch (error) {
      if (!hasCode(error, ...CUT_OFF)) throw error;
    }
  };
  return {
    async begin(fault) {
      if (fault === 'hold' || fault === 'cut-detach') await hold(fault === 'cut-detach');
      else if (fault === 'unset') throw new Error('workers have it, not PostgreSQL');
      else if (fault === 'kill') await postgres.kill();
      else if (fault === 'stop') await postgres.stop();
      else if (fault === 'pause') await pause(postgres.pid);
      else link.begin(fault);
    },
    async end(fault) {
      if (fault === 'hold' || fault === 'cut-detach') await release?.();
      else if (fault === 'kill' || fault === 'stop') await postgres.restart();
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
