import { PLATFORM } from '@herald/core';
import { ENQUEUE_LUA, EXPRESS_MARK, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import { GROUP_OF_LUA, TEST_GROUP } from '../keys/groups.ts';
import { KEY_KINDS, readKeyName, type KeyName } from '../keys/key-name.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { ENDED_LUA, LOG_LUA, TRIED_MS, UNUSED_LOG_MS } from '../keys/segment-lua.ts';
import type { AwaitReplication } from '../redis/await-replication.ts';
import { RedisUnreachableError, type RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { walkKeys } from '../redis/walk-keys.ts';

type EnqueuePendingDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly awaitCopies?: AwaitCopies;
  readonly onProgress?: (looked: number, total: number) => void;
  /** Epoch ms. */
  readonly now: () => number;
};

const ENQUEUE_PENDING_LUA = /* lua */ `
-- Enqueue those of the given deliveries that have something to do, each in its group and due when its record says, and
-- put those that failed or were canceled in their logs. None of them is in work. May run twice: what waits stays where
-- it is.
-- KEYS[1..n] deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3..n+2] their ids
-- Returns {number of deliveries enqueued, the group of one of them or ''}.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${ENQUEUE_LUA}
${GROUP_OF_LUA}
${LOG_LUA}
${ENDED_LUA}
local entries = {}
local function noteIfEnded(id, record, transition, endpoint, status, at)
  local entry = { id = id, endpoint = endpoint, status = status, at = at }
  entry.workspace = redis.call('HGET', prefix .. transition, 'ws')
  local log = endedLog(endpoint, entry.workspace, status)
  if not log then return end
  forgetEnded(entry)
  -- Records come in no order: the log stays as long as any of them.
  local left = redis.call('PTTL', record)
  local ttl = left > 0 and left + ${TRIED_MS} or ${UNUSED_LOG_MS}
  appendToLog(log, math.max(ttl, redis.call('PTTL', log), redis.call('PTTL', log .. ':segments')), { at, id })
end
for index, key in ipairs(KEYS) do
  local id = ARGV[index + 2]
  local status, owed, transition, endpoint, due, replayedAt, tries, at =
    unpack(redis.call('HMGET', key, 's', 'owe', 'x', 'e', 'due', 'from', 'n', 'at'))
  local isOwed = (tonumber(owed or '') or 0) > 0
  if endpoint and at then noteIfEnded(id, key, transition, endpoint, status, at) end
  if endpoint and (isOwed or status == 'pending') then
    local isTest = not isOwed and redis.call('HGET', prefix .. transition, 'ev') == 'webhook.test'
    local group = isTest and '${TEST_GROUP}' or groupOf(endpoint)
    if not isWaiting(group, id) then
      -- A test event is sent at once or never: a worker that finds it claimed cancels it.
      if isTest then redis.call('HSETNX', key, 'claim', now) end
      local score = URGENT + now
      if not isOwed and not isTest then
        -- A replay sets 'from' and resets the tries: without a try since then, it goes behind all live ones.
        score = (replayedAt and tonumber(tries or '0') == 0 and BACKGROUND or USUAL) + (tonumber(due or at or '') or now)
      end
      local workspace = not isTest and redis.call('HGET', prefix .. 'e:' .. endpoint, 'ws')
      entries[#entries + 1] = { group, id, score, workspace or nil }
    end
  end
end
enqueue(entries, now)
return { #entries, entries[1] and entries[1][1] or '' }
`;

/** Deliveries of one script: Redis does nothing else meanwhile. */
const PAGE = 200;

const Reply = z.tuple([z.number(), z.string()]);

/**
 * Walks all delivery records, enqueues each delivery that is pending or has a pending redelivery, and notes each that failed
 * or was canceled in its log. The record says
 * when it is due, and whether it is background again: it was replayed, and not tried since. Each step is complete in
 * itself, so another walk completes one that was killed. No worker works meanwhile.
 * @returns deliveries enqueued
 */
export async function enqueuePending(deps: EnqueuePendingDeps): Promise<number> {
  const { redis, keyspace, onProgress } = deps;
  let enqueued = 0;
  for await (const { names, looked, total } of walkKeys(redis, '{*}:dlv_*')) {
    const deliveries = names.flatMap((name) => readKeyName(name) ?? []).filter(({ kind }) => kind === 'delivery');
    const counts = await Promise.all(
      keyspace.shards.map((keys, index) => {
        const ids = deliveries.filter(({ shard }) => shard === index).map(({ id }) => id);
        return enqueueIn(deps, keys, ids);
      }),
    );
    for (const count of counts) enqueued += count;
    onProgress?.(looked, total);
  }
  return enqueued;
}

async function enqueueIn(deps: EnqueuePendingDeps, keys: ShardKeys, ids: readonly string[]): Promise<number> {
  const { redis, awaitCopies, now } = deps;
  const enqueue = defineScript(redis, ENQUEUE_PENDING_LUA);
  let enqueued = 0;
  for (let start = 0; start < ids.length; start += PAGE) {
    const page = ids.slice(start, start + PAGE);
    const reply = await enqueue(page.map(keys.delivery), [keys.prefix, now(), ...page]);
    const [count, group] = Reply.parse(reply);
    if (count > 0) await awaitCopies?.([keys.queue.waiting(group)]);
    enqueued += count;
  }
  return enqueued;
}

/**
 * Waits until replicas have the copies, where REDIS_MIN_REPLICAS asks for that. Otherwise a master of a cluster could
 * die with the only copy after the original was deleted on another master.
 */
export type AwaitCopies = (keys: readonly string[]) => Promise<void>;

export function createAwaitCopies(awaitReplication: AwaitReplication | undefined): AwaitCopies {
  return async (keys) => {
    const replicated = await Promise.all(keys.map(async (key) => await awaitReplication?.({ key })));
    if (!replicated.includes(false)) return;
    throw new RedisUnreachableError(
      'Too few replicas of Redis have what was copied. Look after them, and start this again.',
    );
  };
}

/**
 * Deletes a key that says only where deliveries stand in the queue; they can be made anew from the records. What is known
 * of an endpoint stays, such as an open breaker, but not that of a receiver that was removed: no record leads to it.
 * @returns true for a key of the queue
 */
export async function forgetPlace(redis: RedisClient, kind: KeyName['kind'], id: string, name: string) {
  const isRemoved = kind === 'group' && id.startsWith('wh') && (await redis.exists(endpointOf(name))) === 0;
  const isEndpoint = id !== PLATFORM && !id.startsWith(EXPRESS_MARK) && !isRemoved;
  if (KEY_KINDS[kind].step === 'rebuilt' || (kind === 'group' && !isEndpoint)) await redis.unlink(name);
  else if (kind === 'group') await redis.hdel(name, 'p', 'n');
  // The number of waiting deliveries.
  else if (kind === 'settings') await redis.hdel(name, 'n');
  else return false;
  return true;
}

/** The record beside the group of a receiver. */
function endpointOf(group: string): string {
  return group.replace('}:g:', '}:e:');
}
