import { HistoryUnavailableError } from '@herald/core';
import type { AuditTable } from '@herald/history/writing/audit-table';
import { answerWithin } from '@herald/runtime/async';
import { atBeat } from '@herald/runtime/beat';
import type { Logger } from '@herald/runtime/log';
import { type AuditFollower, toAuditLine } from '@herald/store/access/audit-trail';
import { PURGE_LEASE_MS, type PurgeStore } from '@herald/store/bulk/purge-store';
import type { ReplaySteps } from '@herald/store/bulk/replay-steps';
import type { InternalErrorMetrics } from './metrics.ts';
import type { DeliveryReport } from './report.ts';

type MaintenanceDeps = {
  /** Resolves to 0 when it has found nothing to do. */
  readonly routine: () => Promise<unknown>;
  /**
   * Mean time to the next round after one that has found something, in ms. It is moved by up to a quarter, so that workers
   * don't march in step.
   */
  readonly everyMs: number;
  /**
   * The time to the next round after one that has found nothing to do, at a beat of this process, and after one that has
   * failed. Default: `everyMs`.
   */
  readonly atRestMs?: number;
  readonly onFailed: OnFailed;
  readonly random: () => number;
};

/** What becomes of a fault of a round, or of one thing that it works on: it is told, and the others go on. */
export type OnFailed = (error: unknown) => void;

/** Counts such a fault, and writes it into the log. */
export function createOnFailed(metrics: Pick<InternalErrorMetrics, 'maintenanceFailed'>, logger: Logger): OnFailed {
  return (error) => {
    metrics.maintenanceFailed();
    logger.warn('maintenance.failed', {}, error);
  };
}

/** Runs a maintenance routine again and again. A failure is told, and the next round tries anew. */
export function startMaintenance(deps: MaintenanceDeps) {
  const { routine, everyMs, atRestMs = everyMs, onFailed, random } = deps;
  let giveUp = (): void => undefined;
  let isStopped = false;
  let round = Promise.resolve();

  const runRound = async (): Promise<void> => {
    let isAtRest = false;
    let waitMs = everyMs;
    try {
      isAtRest = (await routine()) === 0;
    } catch (error) {
      waitMs = atRestMs;
      onFailed(error);
    }
    if (!isStopped) schedule(isAtRest, waitMs);
  };
  const startRound = () => {
    round = runRound();
  };
  const schedule = (isAtRest: boolean, waitMs: number): void => {
    if (isAtRest) {
      giveUp = atBeat(atRestMs, startRound);
      return;
    }
    const timer = setTimeout(startRound, waitMs * (0.75 + random() / 2));
    giveUp = () => {
      clearTimeout(timer);
    };
  };
  schedule(false, everyMs);
  return {
    /** Waits for the round under way, and begins no other. May be called twice. */
    stop: async (): Promise<void> => {
      isStopped = true;
      giveUp();
      await round;
    },
  };
}

type RunPurgesDeps = {
  readonly purges: PurgeStore;
  readonly reportPurged: DeliveryReport['purged'];
  readonly onFailed: OnFailed;
  readonly logger: Logger;
  readonly now: () => number;
};

const PURGES_AT_ONCE = 10;

/**
 * Ends the waiting deliveries of endpoints that were disabled or removed. Each has one turn in a round, so that a long
 * purge holds up no other. Each step is complete in itself, and the last one takes the endpoint off the list: after a
 * crash another worker goes on where this one was.
 * @returns endpoints found, also those for which nothing waited: there may be more of them
 */
export async function runPurges({ purges, reportPurged, onFailed, logger, now }: RunPurgesDeps): Promise<number> {
  const at = now();
  const { due, ids } = await purges.claim(at, at + PURGE_LEASE_MS, PURGES_AT_ONCE);
  for (const endpointId of ids) {
    let count = 0;
    try {
      for await (const ended of purges.purge(endpointId, now)) {
        reportPurged(endpointId, ended);
        count += ended.length;
      }
    } catch (error) {
      onFailed(error);
    }
    if (count > 0) logger.info('endpoint.pending_canceled', { endpointId, deliveries: count });
  }
  return due;
}

type ReplayFeedDeps = {
  readonly replays: ReplaySteps;
  readonly reportReplayed: (deliveries: number) => void;
  readonly onFailed: OnFailed;
  readonly now: () => number;
};

const REPLAYS_AT_ONCE = 20;
/** When the next round of any worker may carry a replay on, in ms. */
const NEXT_ROUND_MS = 100;
/** Steps for one replay in one turn, so that many replays go on side by side. */
const STEPS = 25;
/** How long a round waits for its turns, in ms. */
const LONGEST_ROUND_MS = 1_000;
/** Replays that have their turn at a time: more wait for a history that is slow. */
const MOST_TURNS = 200;

/**
 * Carries replays on: each step sets some deliveries pending, as fast as those before them are sent, and no faster. The
 * replays have their turns side by side, and no round waits long for one whose deliveries are in a slow history: it holds
 * up no other. One whose history is away waits for it.
 */
export function createReplayFeed({ replays, reportReplayed, onFailed, now }: ReplayFeedDeps) {
  const underWay = new Map<string, Promise<void>>();
  const takeTurn = async (id: string): Promise<void> => {
    try {
      for (let step = 0; step < STEPS; step++) {
        const { kind, replayed } = await replays.step(id, now());
        if (replayed > 0) reportReplayed(replayed);
        if (kind !== 'stepped') break;
      }
    } catch (error) {
      if (!(error instanceof HistoryUnavailableError)) onFailed(error);
    } finally {
      underWay.delete(id);
    }
  };
  return {
    /** @returns replays found, those that wait included */
    run: async (): Promise<number> => {
      const at = now();
      const room = Math.min(REPLAYS_AT_ONCE, MOST_TURNS - underWay.size);
      const found = room > 0 ? await replays.claim(at, at + NEXT_ROUND_MS, room) : [];
      for (const id of found) if (!underWay.has(id)) underWay.set(id, takeTurn(id));
      await answerWithin(LONGEST_ROUND_MS, Promise.all(underWay.values()), () => undefined);
      return found.length + underWay.size;
    },
    /** Waits for the turns under way. */
    drain: async (): Promise<void> => {
      await Promise.all(underWay.values());
    },
  };
}

/** Entries in one step. */
const TRAIL_BATCH = 200;

/**
 * Writes a line into the log for each entry that a command of `herald` has made: it has no log of its own. A worker that
 * dies between the two steps leaves out the lines of its step; the entries stay.
 * @returns lines written
 */
export async function logEntries(follower: AuditFollower, logger: Logger): Promise<number> {
  for (let lines = 0; ;) {
    const step = await follower.next('log', TRAIL_BATCH);
    if (step.entries.length === 0 || !(await follower.advance('log', step))) return lines;
    for (const entry of step.entries.filter(({ by }) => by === 'cli')) {
      logger.info('audit.entry', toAuditLine(entry));
      lines++;
    }
    if (step.entries.length < TRAIL_BATCH) return lines;
  }
}

/**
 * Copies new entries to the history. They stay in Redis. A crash in between copies them once more, which changes nothing.
 * @returns entries copied
 */
export async function copyEntries(follower: AuditFollower, table: Pick<AuditTable, 'write'>): Promise<number> {
  for (let copied = 0; ;) {
    const step = await follower.next('history', TRAIL_BATCH);
    if (step.entries.length === 0) return copied;
    await table.write(step.entries);
    copied += step.entries.length;
    if (!(await follower.advance('history', step)) || step.entries.length < TRAIL_BATCH) return copied;
  }
}
