import type { HistoryConfig } from '@herald/config/history-env';
import type { HistoryReader } from '@herald/core';
import { createHistoryAccess } from '@herald/history/access/create-history-access';
import { HistoryRefusal } from '@herald/history/requirements/history-refusal';
import { ConfigError } from '@herald/runtime/env/env';
import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import type { Logger } from '@herald/runtime/log/logger';
import type { AuditHistory } from '@herald/store/audit/audit-trail';
import type { ErasableHistory } from '@herald/store/erasing/payload-eraser';

/** Lists and details share them. */
const CONNECTIONS = 5;
/** Between two entries of the log about a history that is away, in ms. */
const TELL_EVERY_MS = 30_000;

export type OpenHistoryDeps = {
  readonly config: HistoryConfig;
  readonly logger: Logger;
  readonly resources: Resources;
  readonly countUnavailable: () => void;
  readonly now: () => number;
};

/** What the API does with the history. */
export type ApiHistory = HistoryReader & ErasableHistory & AuditHistory;

/**
 * Opens the history for reading. When it is away the API starts all the same: what is in Redis can be answered.
 * @throws ConfigError when it is none that this release can use
 */
export async function openHistory(deps: OpenHistoryDeps): Promise<ApiHistory> {
  const { config, logger, resources, countUnavailable, now } = deps;
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
    onUnavailable: tell,
  });
  resources.add('history', access.close);
  try {
    await access.demandUsable();
  } catch (error) {
    if (error instanceof HistoryRefusal) throw new ConfigError(error.message);
    tell(error);
  }
  return { ...access.reader, ...access.eraser };
}
