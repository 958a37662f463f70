import type { Request } from 'express';
import { clientAddressOf } from '../http/client-address.ts';
import { HttpFault } from '../http/problem.ts';

export type FailureLimiterOptions = {
  /** Failures of one address that are answered as what they are, per window. */
  readonly limit: number;
  readonly windowMs: number;
  readonly now: () => number;
};

/** Decides how a failed sign-in is answered. */
export type FailureLimiter = {
  /**
   * Counts a failure of the request's client. The fault to answer with: the given one, or `rate_limited` once its address has used
   * its budget up. Ask only after the credentials have failed: who shares an address with others must not be refused because of them.
   */
  readonly judge: (req: Request, fault: HttpFault) => HttpFault;
  /**
   * For credentials short enough to be guessed: throws `rate_limited` once the address has used its budget up, before they are looked at.
   * A right guess is then not told from a wrong one, at the price that who shares the address waits with the guesser.
   */
  readonly refuseGuessers: (req: Request) => void;
};

type Window = { failures: number; endsAt: number };

/** Addresses that are remembered; whoever commands more than these has no need of guessing. */
const ADDRESS_LIMIT = 10_000;

/** Counted in this process alone: a guess must not cost Redis anything. */
export function createFailureLimiter({ limit, windowMs, now }: FailureLimiterOptions): FailureLimiter {
  // In the order in which their windows end, since all are equally long.
  const windows = new Map<string, Window>();

  const windowOf = (address: string, at: number): Window => {
    const current = windows.get(address);
    if (current && current.endsAt > at) return current;
    windows.delete(address);
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > at && windows.size < ADDRESS_LIMIT) break;
      windows.delete(oldest);
    }
    const started = { failures: 0, endsAt: at + windowMs };
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
    judge(req, fault) {
      const at = now();
      const window = windowOf(clientAddressOf(req), at);
      return ++window.failures <= limit ? fault : toFault(window, at);
    },
    refuseGuessers(req) {
      const at = now();
      const window = windows.get(clientAddressOf(req));
      if (window && window.endsAt > at && window.failures >= limit) throw toFault(window, at);
    },
  };
}
