import type { RequestHandler } from 'express';
import { HttpFault } from './problem.ts';

/** Ends a route: whatever method it doesn't know is answered with those that it does. */
export function refuseOtherMethods(...allowed: readonly string[]): RequestHandler {
  const allow = allowed.join(', ');
  return (req) => {
    throw new HttpFault('method_not_allowed', `${req.method} is not allowed here; use ${allow}`, { allow });
  };
}
