import { setTimeout as pause } from 'node:timers/promises';
import type { HttpAnswer, RequestOptions } from '../tests/support/http-request.ts';
import type { Herald } from '../tests/support/start-herald.ts';
import type { Fleet } from './fleet.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

/** Sends the same request to one API after the other until it is answered with anything but 5xx. */
export type Insist = (method: string, path: string, options: RequestOptions) => Promise<HttpAnswer>;

const ANSWER_DEADLINE_MS = 6_000;
const PAUSE_MS = 150;

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
    for (;;) {
      signal.throwIfAborted();
      const apis = fleet.apis();
      if (apis.length > 0) {
        try {
          const via = random.pick(apis);
          const answer = await herald.request(method, path, { ...options, via, deadlineMs: ANSWER_DEADLINE_MS });
          if (answer.status === 500) ledger.violations.push(`${method} ${path} was answered ${answer.text}`);
          if (answer.status < 500) return answer;
          ledger.counts.refused++;
        } catch (error) {
          if (!isUnanswered(error)) throw error;
          ledger.counts.unanswered++;
        }
      }
      await pause(PAUSE_MS);
    }
  };
}

/** The process was killed, paused or not there; anything else is a fault of an answer, or ours. */
function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
}
