import { setTimeout as pause } from 'node:timers/promises';
import type { HttpAnswer, RequestOptions } from '../tests/support/http-request.ts';
import type { Herald } from '../tests/support/start-herald.ts';
import type { Fleet } from './fleet.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

/** The possible times of a request's effect, epoch ms. */
export type Effect = {
  /** The time of its first try. */
  readonly from: number;
  /** The time of its answer. */
  readonly by: number;
  /** From then on no process and no connection holds it; later than `by` when a try was refused or not answered. */
  readonly until: number;
  /** A try was refused or not answered, and may have taken effect. */
  readonly isUnclear: boolean;
};

/** Sends a request to one API after the other until the answer is not a 5xx. */
export type Insist = (
  method: string,
  path: string,
  options: RequestOptions,
) => Promise<HttpAnswer & { readonly effect: Effect }>;

const ANSWER_DEADLINE_MS = 6_000;
const PAUSE_MS = 150;
/** A paused process and its silent connection can hold a request for so long, and still carry it out, in ms. */
const LATE_EFFECT_MS = 30_000;

export type InsistDeps = {
  readonly herald: Herald;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Ends the retries, when there have been no faults for long. */
  readonly signal: AbortSignal;
};

export function createInsist({ herald, fleet, ledger, random, signal }: InsistDeps): Insist {
  return async (method, path, options) => {
    const from = Date.now();
    let unclearUntil = 0;
    for (;;) {
      signal.throwIfAborted();
      const apis = fleet.apis();
      if (apis.length > 0) {
        const sentAt = Date.now();
        try {
          const via = random.pick(apis);
          const answer = await herald.request(method, path, { ...options, via, deadlineMs: ANSWER_DEADLINE_MS });
          if (answer.status === 500) ledger.violations.push(`${method} ${path} was answered ${answer.text}`);
          const by = Date.now();
          const effect = { from, by, until: Math.max(by, unclearUntil), isUnclear: unclearUntil > 0 };
          if (answer.status < 500) return { ...answer, effect };
          ledger.counts.refused++;
          if ((answer.body as { code?: string }).code === 'history_unavailable') ledger.counts.historyAway++;
        } catch (error) {
          if (!isUnanswered(error)) throw error;
          ledger.counts.unanswered++;
        }
        unclearUntil = sentAt + LATE_EFFECT_MS;
      }
      await pause(PAUSE_MS);
    }
  };
}

/**
 * Whether the process was killed, paused or missing. Other errors are ours. By name: tests have errors of another
 * realm.
 */
function isUnanswered(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'TimeoutError' || (name === 'TypeError' && /^(fetch failed|terminated)$/.test(message));
}
