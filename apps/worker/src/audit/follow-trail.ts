import type { AuditTable } from '@herald/history/writing/audit-table';
import type { Logger } from '@herald/runtime/log/logger';
import { toAuditLine, type AuditFollower } from '@herald/store/access/audit-trail';

/** Entries in one step. */
const BATCH = 200;

/**
 * Writes a line into the log for each entry that a command of `herald` has made: it has no log of its own. A worker that
 * dies between the two steps leaves out the lines of its step; the entries stay.
 * @returns lines written
 */
export async function logEntries(follower: AuditFollower, logger: Logger): Promise<number> {
  for (let lines = 0; ;) {
    const step = await follower.next('log', BATCH);
    if (step.entries.length === 0 || !(await follower.advance('log', step))) return lines;
    for (const entry of step.entries.filter(({ by }) => by === 'cli')) {
      logger.info('audit.entry', toAuditLine(entry));
      lines++;
    }
    if (step.entries.length < BATCH) return lines;
  }
}

/**
 * Copies new entries to the history. They stay in Redis. A crash in between copies them once more, which changes nothing.
 * @returns entries copied
 */
export async function copyEntries(follower: AuditFollower, table: Pick<AuditTable, 'write'>): Promise<number> {
  for (let copied = 0; ;) {
    const step = await follower.next('history', BATCH);
    if (step.entries.length === 0) return copied;
    await table.write(step.entries);
    copied += step.entries.length;
    if (!(await follower.advance('history', step)) || step.entries.length < BATCH) return copied;
  }
}
