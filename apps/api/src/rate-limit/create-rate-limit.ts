import type { SendScriptCommand } from '@herald/store/scripts/script-commands';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import { apiKeyOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';

export type RateLimitDeps = {
  /** Requests per second of one API key; 0: no limit. */
  readonly perSecond: number;
  readonly sendCommand: SendScriptCommand;
  /** The Redis key that counts the requests of an API key. */
  readonly keyOf: (apiKeyId: string) => string;
};

/**
 * Limits the requests of one API key per second. All API processes share the count. Without Redis it throws, so that an
 * outage does not lift the limit. It must come after authentication.
 */
export function createRateLimit({ perSecond, sendCommand, keyOf }: RateLimitDeps): RequestHandler {
  if (perSecond === 0) {
    return (_req, _res, next) => {
      next();
    };
  }
  return rateLimit({
    windowMs: 1_000,
    limit: perSecond,
    store: new RedisStore({ prefix: '', sendCommand: async (...args) => (await sendCommand(args)) as RedisReply }),
    keyGenerator: (req) => keyOf(apiKeyOf(req).id),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: 'api-key',
    handler: (_req, _res, next) => {
      const detail = `this API key may make ${perSecond} requests per second; wait a second, then go on more slowly`;
      next(new HttpFault('rate_limited', detail, { 'retry-after': '1' }));
    },
  });
}
