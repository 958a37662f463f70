import type { DeliveryId } from '@herald/core';
import { createHistoryEraser } from '../writing/create-history-eraser.ts';
import { judgeHistoryError } from '../errors/history-errors.ts';
import { createHistoryPool } from '../pool/create-history-pool.ts';
import { createHistoryCheck, type HistoryUser } from '../requirements/prepare-history.ts';
import { createHistoryReader } from '../reading/create-history-reader.ts';

export type HistoryAccessOptions = {
  /** `HISTORY_URL` */
  readonly url: string;
  /** By this name PostgreSQL lists its connections. */
  readonly name: string;
  readonly connections: number;
  /** Which data reads it. */
  readonly readUser: () => Promise<HistoryUser>;
  /** Hears why history was unavailable, each time. */
  readonly onUnavailable: (error: Error) => void;
  /** Hears of a delivery that this release can't read. */
  readonly onUnreadable?: (id: DeliveryId, error: unknown) => void;
};

/** How long anybody waits for what history has, in ms. */
const READ_LIMIT_MS = 1_000;
/** An erasure waits for the batches that are being moved. */
const ERASE_LIMIT_MS = 10_000;

/** History for those who move nothing there: they read it, and erase in it. Nothing is opened before the first use. */
export function createHistoryAccess(options: HistoryAccessOptions) {
  const { url, name, connections, readUser, onUnavailable, onUnreadable } = options;
  // A connection that was lost while it was idle is replaced by the next statement.
  const onError = () => undefined;
  const limits = { statementLimitMs: READ_LIMIT_MS, connectLimitMs: READ_LIMIT_MS };
  const pool = createHistoryPool({ url, name, connections, ...limits, onError });
  // Apart, so that erasures, which wait for movers, keep nobody from reading.
  const erasing = createHistoryPool({ url, name, connections: 2, statementLimitMs: ERASE_LIMIT_MS, onError });
  const { demandUsable, lookAgain } = createHistoryCheck({ pool, use: 'read', readUser });
  const deps = {
    demandUsable,
    onUnavailable: (error: Error) => {
      if (judgeHistoryError(error) === 'set-up') lookAgain();
      onUnavailable(error);
    },
  };
  return {
    reader: createHistoryReader({ pool, limitMs: READ_LIMIT_MS, ...deps, ...(onUnreadable && { onUnreadable }) }),
    eraser: createHistoryEraser({ pool: erasing, limitMs: ERASE_LIMIT_MS, ...deps }),
    /** @throws HistoryRefusal with what to change, or the error of a server that is away */
    demandUsable,
    close: async () => {
      await Promise.all([pool.end(), erasing.end()]);
    },
  };
}
