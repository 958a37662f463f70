import type { WorkspaceId } from '@herald/core';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';
import type { Request, Response } from 'express';
import { HungUpError } from './problem.ts';
import { workspaceOf } from './request-state.ts';

/** So many records cost Redis what a request costs otherwise. */
const RECORDS_OF_A_REQUEST = 20;
/** Lists that one workspace reads at a time in this process; the others wait. */
const AT_ONCE = 3;

const SPEND_LUA = /* lua */ `#!lua flags=allow-oom
-- Take more from the budget of a workspace than the one request that was counted.
-- KEYS[1] requests of the present second (string)
-- ARGV[1] how many more
-- Returns nothing.
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('INCRBY', KEYS[1], ARGV[1]) end
`;

export type PriceLists = ReturnType<typeof createPriceLists>;

/**
 * Reads lists of deliveries and Tasks, at most a few of a workspace at a time, until their client hangs up, and takes from the
 * budget of the workspace what they cost.
 * @param perSecond 0: there is no budget
 */
export function createPriceLists(redis: RedisClient, perSecond: number) {
  const spend = createSpend(redis);
  const lines = new Map<WorkspaceId, Promise<unknown>[]>();
  return async function readPriced<Page extends { readonly lookedAt: number }>(
    req: Request,
    res: Pick<Response, 'once' | 'off'>,
    read: (signal: AbortSignal) => Promise<Page>,
  ): Promise<Page> {
    const workspaceId = workspaceOf(req);
    const hangUp = new AbortController();
    const onClose = () => {
      hangUp.abort(new HungUpError());
    };
    res.once('close', onClose);
    const line = lines.get(workspaceId) ?? [];
    lines.set(workspaceId, line);
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
      if (perSecond > 0 && more > 0) await spend(workspaceId, more);
      return page;
    } finally {
      res.off('close', onClose);
      void line.splice(line.indexOf(ended), 1);
      if (line.length === 0) lines.delete(workspaceId);
    }
  };
}

/** Takes so many more requests from the budget of a workspace. */
export function createSpend(redis: RedisClient) {
  const script = defineScript(redis, SPEND_LUA);
  return async (workspaceId: WorkspaceId, requests: number): Promise<void> => {
    await script([GLOBAL_KEYS.workspaceRate(workspaceId)], [requests]);
  };
}
