import type { HistoryConfig } from '@herald/config/shared-env';
import type { HistoryReader } from '@herald/core';
import { createHistoryAccess } from '@herald/history/access/create-history-access';
import type { HistoryUser } from '@herald/history/requirements/prepare-history';
import { answerWithin } from '@herald/runtime/async';
import { isErrorLike } from '@herald/runtime/errors';
import type { Finding } from '@herald/runtime/finding';
import type { Resources } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import type { AuditHistory } from '@herald/store/access/audit-trail';
import type { ErasableHistory } from '@herald/store/tasks/payload-eraser';
import { historyAway } from '@herald/store/lists/history-mark';

/** Lists and details share them. */
const CONNECTIONS = 5;
/** Between two entries of the log about a history that is away, in ms. */
const TELL_EVERY_MS = 30_000;

/** A probe waits so long for PostgreSQL, in ms: a third longer, and it would itself be late. */
const LOOK_LIMIT_MS = 1_000;
/** Its page is open to everybody, and PostgreSQL's message may name an address: that is in the log. */
const AWAY = historyAway({});

type OpenHistoryDeps = {
  readonly config: HistoryConfig;
  /** Which data reads it. */
  readonly readUser: () => Promise<HistoryUser>;
  readonly logger: Logger;
  readonly resources: Resources;
  readonly countUnavailable: () => void;
  readonly now: () => number;
};

/** What the API does with the history. */
export type ApiHistory = HistoryReader &
  ErasableHistory &
  AuditHistory & {
    /** Asks PostgreSQL, unless that has just answered. Never rejects, and never hangs. */
    readonly findProblem: () => Promise<Finding | undefined>;
  };

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
  return {
    ...access.reader,
    ...access.eraser,
    findProblem: () => {
      const looked = access.demandUsable().then(
        () => undefined,
        () => AWAY,
      );
      return answerWithin(LOOK_LIMIT_MS, looked, () => AWAY);
    },
  };
}
