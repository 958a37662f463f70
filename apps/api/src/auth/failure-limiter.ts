import type { Request } from 'express';
import { clientAddressOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';

const WINDOW_MS = 60_000;

type Window = { failures: number; endsAt: number };

/** Addresses that are remembered. An attacker with more addresses than these does not need to guess. */
const ADDRESS_LIMIT = 10_000;

/**
 * Limits failed authentications with keys and tokens, which are too long to be guessed, by address. This process counts
 * alone: a guess must not cost Redis anything.
 * @param limit failures of one address per minute that keep their own answer
 */
export function createFailureLimiter(limit: number, now: () => number) {
  // In the order in which the windows end, because all are equally long.
  const windows = new Map<string, Window>();

  const windowOf = (address: string, at: number): Window => {
    const current = windows.get(address);
    if (current && current.endsAt > at) return current;
    windows.delete(address);
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > at && windows.size < ADDRESS_LIMIT) break;
      windows.delete(oldest);
    }
    const started = { failures: 0, endsAt: at + WINDOW_MS };
    windows.set(address, started);
    return started;
  };

  const toFault = (window: Window, at: number): HttpFault => {
    const afterS = Math.ceil((window.endsAt - at) / 1_000);
    return new HttpFault(
      'rate_limited',
      `too many failed authentications from your address; try again in ${afterS} s, with valid credentials`,
      { 'retry-after': String(afterS) },
    );
  };

  return {
    /**
     * Counts a failure of the client. Returns the fault to answer with: the given one, or `rate_limited` once the
     * address has used up its budget. Call it only after the credentials have failed: valid credentials must work for
     * every client behind the address.
     */
    judge: (req: Request, fault: HttpFault): HttpFault => {
      const at = now();
      const window = windowOf(clientAddressOf(req), at);
      return ++window.failures <= limit ? fault : toFault(window, at);
    },
  };
}
export type FailureLimiter = ReturnType<typeof createFailureLimiter>;
