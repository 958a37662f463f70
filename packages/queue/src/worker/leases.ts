import { z } from 'zod';
import { ENQUEUE_LUA, GROUP_LUA } from '../groups/group-lua.ts';
import { LEASE_LUA } from '../groups/lease-lua.ts';
import { createQueueKeys, type QueueAccess } from '../queue-keys.ts';
import type { Held } from './reservations.ts';

export type LeasesOptions = QueueAccess & {
  /** Jobs that a group may have in work, over all workers. */
  readonly groupLimit: number;
  /** See `createFinishScript`. */
  readonly loadLua: string;
};

/** Leases that one script ends at most: Redis does nothing else meanwhile. */
const MOST_RECOVERED = 200;

const Ids = z.array(z.string());
const Flags = z.array(z.number());

/** Extends and ends the leases of jobs in work. */
export function createLeases({ prefix, defineScript, groupLimit, loadLua, now }: LeasesOptions) {
  const keys = [createQueueKeys(prefix).leases];
  const putBack = defineScript('queuePutBack', createPutBackScript(loadLua));
  const finish = defineScript('queueFinish', createFinishScript(loadLua));
  const extend = defineScript('queueExtend', EXTEND_LEASES_LUA);
  const recover = defineScript('queueRecover', createRecoverScript(loadLua));
  return {
    /**
     * Lets jobs wait again where they stood, or where their owner says.
     * @param dueAt epoch ms; 0: as before
     */
    putBack: async (jobs: readonly Held[], dueAt: number): Promise<void> => {
      const leases = jobs.flatMap(({ reserved: { handle, isProbe } }) => [handle, dueAt, isProbe ? 1 : 0]);
      await putBack(keys, [prefix, now(), groupLimit, ...leases]);
    },

    /** Ends the lease of a job whose processor recorded nothing. An unfinished job waits again. */
    finish: async ({ reserved: { handle, isProbe } }: Held): Promise<void> => {
      await finish(keys, [prefix, now(), groupLimit, handle, isProbe ? 1 : 0]);
    },

    /** Returns the handles whose leases are no longer held. */
    extend: async (handles: readonly string[], durationMs: number): Promise<ReadonlySet<string>> => {
      const isHeld = Flags.parse(await extend(keys, [now() + durationMs, ...handles]));
      return new Set(handles.filter((_, index) => isHeld[index] !== 1));
    },

    /** Lets all jobs wait again whose leases have ended. Returns their ids. */
    recover: async (): Promise<string[]> => {
      const all: string[] = [];
      for (;;) {
        const ids = Ids.parse(await recover(keys, [prefix, now(), groupLimit, MOST_RECOVERED]));
        all.push(...ids);
        if (ids.length < MOST_RECOVERED) return all;
      }
    },
  };
}

/** Needs the owner's part, `local prefix` and `local now`. */
const AGAIN_LUA = /* lua */ `
-- Adds where a job waits again to a list for enqueue, unless nothing is left to do. group, stood: where it would
local function waitAgain(entries, group, id, stood)
  local succeeded, to, score, tenant = pcall(placeAgain, prefix, group, id, now, stood)
  -- One that can't be read keeps no other from coming back.
  if not succeeded then to, score, tenant = group, stood, nil end
  if to then entries[#entries + 1] = { to, id, score, tenant } end
end
`;

/** @param loadLua see `createFinishScript` */
export function createPutBackScript(loadLua: string): string {
  return /* lua */ `#!lua flags=allow-oom
-- Gives back jobs that were not worked on, or failed: each waits again where it stood, and is due at the given time,
-- unless its owner says otherwise. Spends no try.
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] limit of a group
-- ARGV[4..] for each job: handle of its lease, when it is due (ms; 0: as before), 1 when it was a probe, else 0
-- Returns how many leases were still held. To run it twice changes nothing more.
local prefix, now, limit, again = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), {}
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${loadLua}
${AGAIN_LUA}
local held = 0
for index = 4, #ARGV, 3 do
  local wasHeld, group, id, score = endLease(ARGV[index])
  if wasHeld then
    local due = tonumber(ARGV[index + 1])
    if due > 0 then score = score - score % CLASS + due end
    settleGroup(group, now, limit, { freed = 1, isProbe = ARGV[index + 2] == '1' })
    held = held + 1
    waitAgain(again, group, id, score)
  end
end
writeSlots()
enqueue(again, now)
return held
`;
}

/**
 * @param loadLua defines `local function placeAgain(prefix, group, id, now, stood)`: the group and the score (see
 * `scoreOf`) at which a job without a recorded outcome waits again, and the tenant to which the group belongs or nil;
 * nil when the job is finished. group, stood: where it would wait; stood: nil when its processor has ended; now: ms.
 * What changed while the job was in work may give it another place.
 */
export function createFinishScript(loadLua: string): string {
  return /* lua */ `#!lua flags=allow-oom
-- Ends the lease of a job whose processor recorded nothing. An unfinished job waits again, so that none is lost.
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] limit of a group   ARGV[4] handle of the lease   ARGV[5] 1 when it was a
-- probe, else 0
-- Returns 'finished' | 'waits' | 'lost' (the lease was no longer held).
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${loadLua}
local now = tonumber(ARGV[2])
local wasHeld, group, id = endLease(ARGV[4])
if not wasHeld then return 'lost' end
settleGroup(group, now, tonumber(ARGV[3]), { freed = 1, isProbe = ARGV[5] == '1' })
writeSlots()
local to, score, tenant = placeAgain(prefix, group, id, now)
if not to then return 'finished' end
enqueue({ { to, id, score, tenant } }, now)
return 'waits'
`;
}

const EXTEND_LEASES_LUA = /* lua */ `#!lua flags=allow-oom
-- Extends leases that are still held.
-- KEYS[1] leases (zset)
-- ARGV[1] until (ms)   ARGV[2..] handles
-- Returns for each handle 1 when it is held, else 0.
local held = {}
for index = 2, #ARGV do
  held[index - 1] = redis.call('ZSCORE', KEYS[1], ARGV[index]) and 1 or 0
  if held[index - 1] == 1 then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[index]) end
end
return held
`;

/** @param loadLua see `createFinishScript` */
export function createRecoverScript(loadLua: string): string {
  return /* lua */ `#!lua flags=allow-oom
-- Enqueues jobs whose leases have ended, each where it stood, unless its owner says otherwise: their worker died, or
-- stood still for too long.
-- KEYS[1] leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] limit of a group   ARGV[4] the most leases to end
-- Returns the ids of the jobs.
local prefix, now, ids, again = ARGV[1], tonumber(ARGV[2]), {}, {}
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${loadLua}
${AGAIN_LUA}
for _, handle in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[4])) do
  local _, group, id, score = endLease(handle)
  settleGroup(group, now, tonumber(ARGV[3]), { freed = 1 })
  waitAgain(again, group, id, score)
  ids[#ids + 1] = id
end
writeSlots()
enqueue(again, now)
return ids
`;
}
