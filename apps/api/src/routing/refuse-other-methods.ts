import type { RequestHandler } from 'express';
import { HttpFault } from '../http/problem.ts';

/** Ends a route: answers every other method with the allowed ones. */
export function refuseOtherMethods(...allowed: readonly string[]): RequestHandler {
  const allow = allowed.join(', ');
  return (req) => {
    throw new HttpFault('method_not_allowed', `${req.method} is not allowed here; use ${allow}`, { allow });
  };
}
