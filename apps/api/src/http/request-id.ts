import { AsyncLocalStorage } from 'node:async_hooks';
import { randomToken } from '@herald/store/redis/random-token';
import type { Logger, LogFields } from '@herald/runtime/log/logger';
import type { Request, RequestHandler } from 'express';

const ids = new WeakMap<Request, string>();
const current = new AsyncLocalStorage<string>();

// Somebody's key in the wrong header would be in every line of the log.
const CREDENTIAL = /hrld_|whsec_/i;

/** The id of a request: the caller's `x-request-id` if it is a plain token and no key of ours, else a new one. */
export function requestIdOf(req: Request): string {
  return ids.get(req) ?? '';
}

/** The id of the request that is being answered; undefined outside of one. */
export function currentRequestId(): string | undefined {
  return current.getStore();
}

/** Gives every request an id and answers with it. */
export const giveRequestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  const isFit = given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) && !CREDENTIAL.test(given);
  const id = isFit ? given : `req_${randomToken()}`;
  ids.set(req, id);
  res.setHeader('x-request-id', id);
  current.run(id, next);
};

/** The same log, each line of which names the request that it belongs to. */
export function withRequestId(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (event: string, fields?: LogFields, error?: unknown): void => {
      const requestId = currentRequestId();
      logger[level](event, requestId === undefined ? fields : { requestId, ...fields }, error);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
