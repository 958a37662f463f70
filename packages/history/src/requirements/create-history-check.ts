import { HistoryRefusal } from '../errors/history-errors.ts';
import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { READ_INSTALLATION } from '../sql/history-sql.ts';
import { OTHER_HISTORY, prepareHistory, type HistoryUser } from './prepare-history.ts';

export type HistoryCheckDeps = {
  readonly pool: HistoryPool;
  readonly use: 'read' | 'write';
  readonly readUser: () => Promise<HistoryUser>;
  /** Notes which history the data has, unless that is known. Returns which one it has. Absent: nothing is noted. */
  readonly note?: (historyId: string) => Promise<string>;
  readonly onMigrated?: (migrations: readonly string[]) => void;
  /** Hears of a schema that could not be brought up to date, each time. */
  readonly onMigrationFailed?: () => void;
};

/** After an answer it is taken for usable for so long, in ms. */
const CHECK_EVERY_MS = 5_000;
const LIMITS = { statementMs: 5_000 };

/**
 * Whether the history is there, and is that of this data. It asks PostgreSQL again and again, also while nothing moves: the
 * server may be replaced by another while this process runs.
 */
export function createHistoryCheck({ pool, use, readUser, note, onMigrated, onMigrationFailed }: HistoryCheckDeps) {
  let usableId: string | undefined;
  let checkedAt = -Infinity;
  let checking: Promise<void> | undefined;

  const check = async (): Promise<void> => {
    const user = await readUser();
    if (usableId !== undefined && usableId === (user.historyId ?? usableId)) {
      const { rows } = await inTransaction(pool, LIMITS, (client) => client.query<{ id: string }>(READ_INSTALLATION));
      if (rows[0]?.id === usableId) return;
    }
    usableId = undefined;
    const { ran, historyId } = await prepareHistory(pool, use, user, onMigrationFailed);
    if (ran.length > 0) onMigrated?.(ran);
    // Two workers may have begun with two histories.
    if (note && (await note(historyId)) !== historyId) throw new HistoryRefusal(OTHER_HISTORY);
    usableId = historyId;
  };

  return {
    /** @throws HistoryRefusal with what to change, or the error of a server that is away */
    demandUsable: async (): Promise<void> => {
      if (performance.now() - checkedAt < CHECK_EVERY_MS) return;
      checking ??= check().finally(() => {
        checking = undefined;
      });
      await checking;
      checkedAt = performance.now();
    },
    /** Something wasn't as it should be: nothing is taken for granted any more. */
    lookAgain: (): void => {
      usableId = undefined;
      checkedAt = -Infinity;
    },
  };
}
