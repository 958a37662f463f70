import { createHistoryEraser } from '../erasing/create-history-eraser.ts';
import { createHistoryPool } from '../pool/create-history-pool.ts';
import { prepareHistory } from '../requirements/prepare-history.ts';
import { createHistoryReader } from '../reading/create-history-reader.ts';

export type HistoryAccessOptions = {
  /** `HISTORY_URL` */
  readonly url: string;
  /** By this name PostgreSQL lists its connections. */
  readonly name: string;
  readonly connections: number;
  /** Hears why history was unavailable, each time. */
  readonly onUnavailable: (error: Error) => void;
};

/** How long anybody waits for what history has, in ms. */
const READ_LIMIT_MS = 1_000;
/** An erasure waits for the batches that are being moved. */
const ERASE_LIMIT_MS = 10_000;

/** History for those who move nothing there: they read it, and erase in it. Nothing is opened before the first use. */
export function createHistoryAccess({ url, name, connections, onUnavailable }: HistoryAccessOptions) {
  // A connection that was lost while it was idle is replaced by the next statement.
  const pool = createHistoryPool({
    url,
    name,
    connections,
    statementLimitMs: ERASE_LIMIT_MS,
    onError: () => undefined,
  });
  return {
    reader: createHistoryReader({ pool, limitMs: READ_LIMIT_MS, onUnavailable }),
    eraser: createHistoryEraser({ pool, limitMs: ERASE_LIMIT_MS, onUnavailable }),
    /** @throws HistoryRefusal with what to change, or the error of a server that is away */
    demandUsable: () => prepareHistory(pool, 'read'),
    close: () => pool.end(),
  };
}
