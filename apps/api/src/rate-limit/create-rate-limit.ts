import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import type { SendScriptCommand } from '@herald/store/redis/script';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import { budgetOf, callerOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';

/**
 * Limits the requests of one workspace per second: its keys and links draw from one budget, so that nobody gets more by
 * making more of them. A platform key has a budget of its own. All API processes share the count. Without Redis it throws, so that an
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
    keyGenerator: (req) => GLOBAL_KEYS.workspaceRate(budgetOf(req)),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // The name of the policy in the headers, which callers may know.
    identifier: 'api-key',
    handler: (req, _res, next) => {
      const isPlatform = callerOf(req).workspaceId === undefined;
      const who = isPlatform ? 'this platform key' : 'all keys and links of this workspace';
      const detail = `${who} may make ${perSecond} requests per second; wait a second, then go on more slowly`;
      next(new HttpFault('rate_limited', detail, { 'retry-after': '1' }));
    },
  });
}
