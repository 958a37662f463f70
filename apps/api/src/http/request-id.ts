import { randomToken } from '@herald/store/redis/random-token';
import type { Logger, LogFields } from '@herald/runtime/log/logger';
import type { RequestHandler } from 'express';
import { currentRequest, stateOf, withinRequest } from './request-state.ts';

// The log would repeat a key that somebody puts into the wrong header.
const CREDENTIAL = /hrl[dp]_|whsec_/i;

/** The id of the request that is being answered; undefined outside of one. */
export function currentRequestId(): string | undefined {
  const request = currentRequest();
  return request && stateOf(request).requestId;
}

/** Gives every request an id: the caller's `x-request-id` if it is a plain token and no credential, else a new one. */
export const giveRequestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  const isFit = given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) && !CREDENTIAL.test(given);
  const id = isFit ? given : `req_${randomToken()}`;
  stateOf(req).requestId = id;
  res.setHeader('x-request-id', id);
  withinRequest(req, next);
};

/** The same log, with the id of the current request in each line. */
export function withRequestId(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (event: string, fields?: LogFields, error?: unknown): void => {
      const requestId = currentRequestId();
      logger[level](event, requestId === undefined ? fields : { requestId, ...fields }, error);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
