import type { HistoryConfig } from '@herald/config/history-env';
import { createHistoryAccess } from '@herald/history/access/create-history-access';
import type { HistoryUser } from '@herald/history/requirements/prepare-history';
import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import type { Logger } from '@herald/runtime/log/logger';
import type { AuditHistory } from '@herald/store/audit/audit-trail';
import type { ErasableHistory } from '@herald/store/erasing/payload-eraser';
import type { HistoryReader } from '@herald/core';

/** Lists and details share them. */
const CONNECTIONS = 5;
/** Between two entries of the log about a history that is away, in ms. */
const TELL_EVERY_MS = 30_000;

export type OpenHistoryDeps = {
  readonly config: HistoryConfig;
  /** Which data reads it. */
  readonly readUser: () => Promise<HistoryUser>;
  readonly logger: Logger;
  readonly resources: Resources;
  readonly countUnavailable: () => void;
  readonly now: () => number;
};

/** What the API does with the history. */
export type ApiHistory = HistoryReader & ErasableHistory & AuditHistory;

/**
 * Opens the history for reading. When it is away, or none that may be used, the API starts all the same: what is in Redis can
 * be answered.
 */
export async function openHistory(deps: OpenHistoryDeps): Promise<ApiHistory> {
  const { config, readUser, logger, resources, countUnavailable, now } = deps;
  let toldAt = -Infinity;
  const tell = (error: unknown): void => {
    countUnavailable();
    if (now() - toldAt < TELL_EVERY_MS) return;
    toldAt = now();
    logger.warn('history.unavailable', { detail: isErrorLike(error) ? error.message : String(error) });
  };
  const access = createHistoryAccess({
    url: config.url,
    name: 'herald-api',
    connections: CONNECTIONS,
    readUser,
    onUnavailable: tell,
    onUnreadable: (id, error) => {
      logger.error('history.damaged_record', { deliveryIds: id }, error);
    },
  });
  resources.add('history', access.close);
  await access.demandUsable().catch(tell);
  return { ...access.reader, ...access.eraser };
}
