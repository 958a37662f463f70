import { GLOBAL_KEYS } from '@herald/store/keyspace/keys';
import type { SendScriptCommand } from '@herald/store/scripts/script-commands';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import { apiKeyOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';

/**
 * Limits the requests of one API key per second. All API processes share the count. Without Redis it throws, so that an
 * outage does not lift the limit. It must come after authentication.
 * @param perSecond 0: no limit
 */
export function createRateLimit(perSecond: number, sendCommand: SendScriptCommand): RequestHandler {
  if (perSecond === 0) {
    return (_req, _res, next) => {
      next();
    };
  }
  return rateLimit({
    windowMs: 1_000,
    limit: perSecond,
    store: new RedisStore({ prefix: '', sendCommand: async (...args) => (await sendCommand(args)) as RedisReply }),
    keyGenerator: (req) => GLOBAL_KEYS.apiKeyRate(apiKeyOf(req).id),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: 'api-key',
    handler: (_req, _res, next) => {
      const detail = `this API key may make ${perSecond} requests per second; wait a second, then go on more slowly`;
      next(new HttpFault('rate_limited', detail, { 'retry-after': '1' }));
    },
  });
}
