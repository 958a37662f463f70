import { setTimeout as pause } from 'node:timers/promises';
import type { HttpAnswer, RequestOptions } from '../tests/support/http-request.ts';
import type { Herald } from '../tests/support/start-herald.ts';
import type { Fleet } from './fleet.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

/** When a request took its effect, if it had one. Times are epoch ms. */
export type Effect = {
  /** It was sent first. */
  readonly from: number;
  /** It was answered. */
  readonly by: number;
  /** No process and no connection has it any more; later than `by` when one of its tries was refused or not answered. */
  readonly until: number;
  /** One of its tries was refused or not answered, and may have had the effect. */
  readonly isUnclear: boolean;
};

/** Sends the same request to one API after the other until it is answered with anything but 5xx. */
export type Insist = (
  method: string,
  path: string,
  options: RequestOptions,
) => Promise<HttpAnswer & { readonly effect: Effect }>;

const ANSWER_DEADLINE_MS = 6_000;
const PAUSE_MS = 150;
/** A process that is paused, and then its silent connection, keep a request so long and carry it out after all. */
const LATE_EFFECT_MS = 30_000;

export type InsistDeps = {
  readonly herald: Herald;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Ends the insisting, when everything has been well for long. */
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

/** The process was killed, paused or not there; anything else is a fault of an answer, or ours. Known by names: tests have errors of their own realm. */
function isUnanswered(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'TimeoutError' || (name === 'TypeError' && /^(fetch failed|terminated)$/.test(message));
}
