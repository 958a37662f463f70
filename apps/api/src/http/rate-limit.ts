import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript, type SendScriptCommand } from '@herald/store/redis/script';
import type { Request, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import { BODY_LIMIT_BYTES } from './parse-json.ts';
import { HttpFault, HungUpError, onceClosed } from './problem.ts';
import { budgetOf, callerOf, isByOperatorsLink } from './request-state.ts';

/** So many records cost Redis what a request costs otherwise. */
const RECORDS_OF_A_REQUEST = 20;
/** Lists that are read at a time in this process for one budget; the others wait. */
const AT_ONCE = 3;

const SPEND_LUA = /* lua */ `#!lua flags=allow-oom
-- Take more from a budget than the one request that was counted.
-- KEYS[1] requests of the present second (string)
-- ARGV[1] how many more
-- Returns nothing.
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('INCRBY', KEYS[1], ARGV[1]) end
`;

export type PriceLists = ReturnType<typeof createPriceLists>;

/**
 * Reads lists of deliveries and Tasks, at most a few of a workspace at a time, and as many for its operators, until their
 * client hangs up, and takes from the budget of the request what they cost.
 * @param perSecond 0: there is no budget
 */
export function createPriceLists(redis: RedisClient, perSecond: number) {
  const spend = createSpend(redis);
  const lines = new Map<string, Promise<unknown>[]>();
  return async function readPriced<Page extends { readonly lookedAt: number }>(
    req: Request,
    res: Pick<Response, 'closed' | 'once' | 'off'>,
    read: (signal: AbortSignal) => Promise<Page>,
  ): Promise<Page> {
    const budget = budgetOf(req);
    const hangUp = new AbortController();
    const onClose = () => {
      hangUp.abort(new HungUpError());
    };
    onceClosed(res, onClose);
    const line = lines.get(budget) ?? [];
    lines.set(budget, line);
    const before = line.at(-AT_ONCE);
    const reading = (before ?? Promise.resolve()).then(async () => {
      hangUp.signal.throwIfAborted();
      return await read(hangUp.signal);
    });
    const ended = reading.catch(() => undefined);
    line.push(ended);
    try {
      const page = await reading;
      const more = Math.floor(page.lookedAt / RECORDS_OF_A_REQUEST);
      if (perSecond > 0 && more > 0) await spend(budget, more);
      return page;
    } finally {
      res.off('close', onClose);
      void line.splice(line.indexOf(ended), 1);
      if (line.length === 0) lines.delete(budget);
    }
  };
}

/** Takes so many more requests from a budget. */
export function createSpend(redis: RedisClient) {
  const script = defineScript(redis, SPEND_LUA);
  return async (budget: string, requests: number): Promise<void> => {
    await script([GLOBAL_KEYS.rate(budget)], [requests]);
  };
}

/**
 * Limits the requests of one workspace per second: its keys and links draw from one budget, so that nobody gets more by
 * making more of them. A platform key has a budget of its own, and so have the links to a workspace that operators made.
 * All API processes share the count. Without Redis it throws, so that an outage does not lift the limit. It must come
 * after authentication.
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
    keyGenerator: (req) => GLOBAL_KEYS.rate(budgetOf(req)),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // The name of the policy in the headers, which callers may know.
    identifier: 'api-key',
    handler: (req, _res, next) => {
      const detail = `${describeSharers(req)} may make ${perSecond} requests per second; wait a second, then go on more slowly`;
      next(new HttpFault('rate_limited', detail, { 'retry-after': '1' }));
    },
  });
}

function describeSharers(req: Request): string {
  if (callerOf(req).workspaceId === undefined) return 'this platform key';
  return isByOperatorsLink(req) ? "all operators' links to this workspace" : 'all keys and links of this workspace';
}

/** The bodies of one workspace's unfinished requests: 128 of the largest, or many thousands of the usual size. */
const BODIES_LIMIT_BYTES = 128 * BODY_LIMIT_BYTES;

/**
 * Limits the memory that the bodies of one workspace's unfinished requests take in this process, whichever keys and links
 * they come with; those of operators' links count apart. Under the rate limit alone, thousands of large bodies could be
 * started, and each be sent slowly. It must come after authentication and before the body is read.
 */
export function createBodyLimit(): RequestHandler {
  const taken = new Map<string, number>();
  return (req, res, next) => {
    const announced = req.get('content-length');
    const isChunked = req.get('transfer-encoding') !== undefined;
    // A larger body is refused unread. A chunked body has no known size.
    const bytes = isChunked ? BODY_LIMIT_BYTES : Math.min(Number(announced ?? 0), BODY_LIMIT_BYTES);
    if (bytes === 0) {
      next();
      return;
    }
    const id = budgetOf(req);
    const before = taken.get(id) ?? 0;
    if (before + bytes > BODIES_LIMIT_BYTES) {
      const detail = 'too many large requests of yours are under way; wait until some are answered';
      throw new HttpFault('rate_limited', detail, { 'retry-after': '1' });
    }
    onceClosed(res, () => {
      const rest = (taken.get(id) ?? 0) - bytes;
      if (rest > 0) taken.set(id, rest);
      else taken.delete(id);
    });
    taken.set(id, before + bytes);
    next();
  };
}
