import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler } from 'express';

const ids = new WeakMap<Request, string>();

// Somebody's key in the wrong header would be in every line of the log.
const CREDENTIAL = /hrld_|whsec_/i;

/** The id of a request: the caller's `x-request-id` if it is a plain token and no key of ours, else a new one. */
export function requestIdOf(req: Request): string {
  return ids.get(req) ?? '';
}

/** Gives every request an id and answers with it. */
export const giveRequestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  const isFit = given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) && !CREDENTIAL.test(given);
  const id = isFit ? given : `req_${randomBytes(9).toString('base64url')}`;
  ids.set(req, id);
  res.setHeader('x-request-id', id);
  next();
};
