import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { findHistoryNotSet, historyAway } from '@herald/store/moving/history-mark';
import type { Herald } from '../context/open-herald.ts';
import { warning, type Check } from './check.ts';

const LIMITS = { statementLimitMs: 5_000, connectLimitMs: 2_000 };

/** Whether the history is there, is that of this data, and drops its days. It changes nothing. */
export async function checkHistory({ config, historyMark, readHistoryUser, now }: Herald): Promise<Check> {
  const name = 'history';
  if (!config.history) {
    const missing = await findHistoryNotSet(historyMark);
    return { name, findings: missing ? [missing] : [], well: 'there is none: what settled expires after RETENTION' };
  }
  const { createHistoryPool } = await import('@herald/history/pool/create-history-pool');
  const { prepareHistory, readHistoryStatus } = await import('@herald/history/requirements/prepare-history');
  const { url, retentionMs } = config.history;
  const options = { url, name: 'herald-doctor', connections: 1, ...LIMITS };
  const pool = createHistoryPool({ ...options, onError: () => undefined });
  try {
    await prepareHistory(pool, 'read', await readHistoryUser());
    const { overdue } = await readHistoryStatus(pool, now() - retentionMs);
    const stays = warning(
      'history_days_stay',
      `HISTORY_RETENTION has ended, and they are still there: ${overdue.join(', ')}; end whoever reads them, see history.days_stay in the log of the workers`,
    );
    return { name, findings: overdue.length > 0 ? [stays] : [], well: 'it can be read, and is that of this data' };
  } catch (thrown) {
    const reason = isErrorLike(thrown) ? thrown.message : String(thrown);
    return { name, findings: [historyAway({ reason })], well: '' };
  } finally {
    await pool.end();
  }
}
