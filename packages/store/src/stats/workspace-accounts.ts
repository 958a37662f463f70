import { deliveryIdOf, isCallbackId, type WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { readKeyName } from '../keys/key-name.ts';
import { PLATFORM_OWNER, readScoredIds, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import {
  ACCOUNT_LUA,
  COUNTED_TASK_FIELDS,
  LEAVE_LUA,
  LEAVING_AT_ONCE,
  TASK_BYTES,
  WORKSPACE_TASKS_LUA,
} from '../keys/account-lua.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { type Refusal, refusalOf } from '../redis/refusal.ts';
import { defineScript } from '../redis/script.ts';
import { walkKeys } from '../redis/walk-keys.ts';

/** What a workspace may hold; 0: no limit. */
export type WorkspaceLimits = {
  /** Pending deliveries. */
  readonly pending: number;
  /** What its Tasks, facts, bodies, attempts and kept answers take. */
  readonly bytes: number;
};

export const NO_LIMITS: WorkspaceLimits = { pending: 0, bytes: 0 };
/** Which of them a workspace has reached, as scripts reply. */
export const LimitName = z.enum(['pending', 'bytes']);

/** What a workspace holds. */
export type WorkspaceAccount = {
  readonly workspaceId: WorkspaceId;
  readonly pending: number;
  readonly bytes: number;
};

export type AccountsDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** Epoch ms. */
  readonly now: () => number;
};

const REFUSED_WRITES: readonly (Refusal | undefined)[] = ['disk', 'few_replicas', 'replica'];

/** Reads what workspaces hold. */
export function createWorkspaceAccounts({ redis, keyspace, now }: AccountsDeps) {
  const leave = defineScript(redis, LEAVE_LUA);

  /**
   * Takes off what has left by itself, so that the order is right. A Redis that takes no writes keeps the order that it has:
   * whoever asks what is wrong with it must be told.
   */
  const takeOffLeft = async (keys: ShardKeys) => {
    const args = [keys.prefix, now()];
    try {
      while (z.number().parse(await leave([keys.leaving], args)) === LEAVING_AT_ONCE);
    } catch (error) {
      if (!REFUSED_WRITES.includes(refusalOf(error))) throw error;
    }
  };

  const readLargest = async (keys: ShardKeys, by: 'held' | 'pending', limit: number): Promise<WorkspaceAccount[]> => {
    const found = readScoredIds(await redis.zrange(keys[by], 0, String(limit - 1), 'REV', 'WITHSCORES'));
    if (found.length === 0) return [];
    const ids = found.map(({ id }) => id);
    const others = await redis.zmscore(by === 'held' ? keys.pending : keys.held, ...ids);
    return found.map(({ id, score }, index) => {
      const other = Number(others[index] ?? 0);
      return { workspaceId: id, pending: by === 'held' ? other : score, bytes: by === 'held' ? score : other };
    });
  };

  return {
    find: async (workspaceId: WorkspaceId): Promise<WorkspaceAccount> => {
      const keys = keyspace.of(workspaceId);
      const [pending, bytes] = await Promise.all(
        [keys.pending, keys.held].map((key) => redis.zscore(key, workspaceId)),
      );
      return { workspaceId, pending: Number(pending ?? 0), bytes: Number(bytes ?? 0) };
    },
    /** Whether so many bytes more are past its limit; 0: there is none. */
    async isFull(workspaceId: WorkspaceId, bytes: number, limit: number): Promise<boolean> {
      const keys = keyspace.of(workspaceId);
      const isPast = async () => Number((await redis.zscore(keys.held, workspaceId)) ?? 0) + bytes > limit;
      if (limit === 0 || !(await isPast())) return false;
      await takeOffLeft(keys);
      return await isPast();
    },
    /** The workspaces that hold the most, of these shards, largest first. */
    async largest(
      limit: number,
      by: 'held' | 'pending' = 'held',
      shards: readonly ShardKeys[] = keyspace.shards,
    ): Promise<readonly WorkspaceAccount[]> {
      const perShard = await Promise.all(
        shards.map(async (keys) => {
          await takeOffLeft(keys);
          return await readLargest(keys, by, limit);
        }),
      );
      const sizeOf = ({ pending, bytes }: WorkspaceAccount) => (by === 'held' ? bytes : pending);
      return perShard
        .flat()
        .sort((a, b) => sizeOf(b) - sizeOf(a))
        .slice(0, limit);
    },
  };
}
export type WorkspaceAccounts = ReturnType<typeof createWorkspaceAccounts>;

/** Records of one script: a Task may know thousands of facts. */
const COUNTED_AT_ONCE = 50;

const COUNT_RECORDS_LUA = /* lua */ `
-- Count Tasks, callbacks and transitions that no account has, since a former version wrote them, and enter the Tasks into
-- the lists of their workspaces. A second run changes nothing.
-- KEYS[1..n] Tasks, callbacks and transitions (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3..n+2] of a transition, ids of its deliveries, joined by commas
-- Returns how many it counted.
local prefix, now, found = ARGV[1], tonumber(ARGV[2]), 0
${ACCOUNT_LUA}
${WORKSPACE_TASKS_LUA}
local function sizeOfAll(hash)
  local size, flat = 0, redis.call('HGETALL', hash)
  for index = 1, #flat, 2 do size = size + sizeOfEntry(flat[index], flat[index + 1]) end
  return size
end

local function sizeOfTask(task)
  local size = ${TASK_BYTES} + sizeOfAll(task .. ':facts') + sizeOfAll(task .. ':decisions')
  for _, name in ipairs({ ${COUNTED_TASK_FIELDS.map((name) => `'${name}'`).join(', ')} }) do
    size = size + redis.call('HSTRLEN', task, name)
  end
  return size + sizeOfList(task .. ':messages')
end

for index, key in ipairs(KEYS) do
  local workspace, counted, isTask, open, event, url =
    unpack(redis.call('HMGET', key, 'ws', 'b', 'rev', 'open', 'ev', 'url'))
  local isOurs = workspace and string.sub(workspace, -${PLATFORM_OWNER.length}) ~= '${PLATFORM_OWNER}'
  if isOurs and not counted and (isTask or event or url) then
    local ends, at, size = redis.call('PEXPIRETIME', key), nil, nil
    -- One that has moved to another node since it was counted ends some milliseconds later.
    if ends > 0 then at = timeToLeave(now, math.max(ends - now - 1000, 1)) end
    if isTask then
      size = sizeOfTask(key)
      redis.call('HSET', key, 'leaves', at or 0)
      for _, part in ipairs({ key, key .. ':facts', key .. ':messages', key .. ':decisions' }) do
        if at then redis.call('PEXPIREAT', part, at) end
      end
      if at then
        redis.call('ZADD', prefix .. 'w:' .. workspace .. ':tasks', redis.call('HGET', key, 'at'), string.sub(key, #prefix + 3))
        keepTasksUntil(workspace, at)
      end
    elseif url then
      size = sizeOfCallback(redis.call('HGETALL', key))
      if at then redis.call('PEXPIREAT', key, at) end
    else
      local deliveries, attempts = 0, 0
      for id in string.gmatch(ARGV[index + 2], '[^,]+') do
        deliveries, attempts = deliveries + 1, attempts + sizeOfList(prefix .. id .. ':a')
      end
      size = sizeOfTransition(redis.call('HSTRLEN', key, 'body'), deliveries) + attempts
      if at then redis.call('PEXPIREAT', key, at) end
      notePending(workspace, tonumber(open) or 0)
    end
    redis.call('HSET', key, 'b', size)
    noteBytes(workspace, size, at)
    found = found + 1
  end
end
writeAccounts()
return found
`;

/**
 * Yields the names of all Tasks, callbacks and transitions, those of one shard at a time and so many at most: each that
 * exists from the first step to the last, some twice.
 */
export async function* walkRecords(
  { redis, keyspace }: Pick<AccountsDeps, 'redis' | 'keyspace'>,
  atOnce: number,
  onProgress?: (looked: number, total: number) => void,
): AsyncGenerator<{ readonly keys: ShardKeys; readonly names: readonly string[] }> {
  for await (const { names, looked, total } of walkKeys(redis, '{*}:[te][:r]*')) {
    const records = names.flatMap((name) => {
      const key = readKeyName(name);
      const isCounted =
        key?.kind === 'endpoint' ? isCallbackId(key.id) : key?.kind === 'task' || key?.kind === 'transition';
      return key && isCounted ? [{ name, shard: key.shard }] : [];
    });
    for (const [shard, keys] of keyspace.shards.entries()) {
      const own = records.filter((record) => record.shard === shard).map(({ name }) => name);
      for (let start = 0; start < own.length; start += atOnce) yield { keys, names: own.slice(start, start + atOnce) };
    }
    onProgress?.(looked, total);
  }
}

/**
 * Counts the Tasks, callbacks and transitions that a former version wrote, step by step. Each step is complete in itself,
 * so another run completes one that was killed.
 * @returns records counted
 */
export async function countRecords({ redis, keyspace, now }: AccountsDeps): Promise<number> {
  const count = defineScript(redis, COUNT_RECORDS_LUA);
  let counted = 0;
  const readDeliveries = async (prefix: string, name: string) => {
    const endpoints = (await redis.hget(name, 'eps'))?.split(',') ?? [];
    return endpoints.map((endpointId) => deliveryIdOf(name.slice(prefix.length), endpointId)).join();
  };
  for await (const { keys, names } of walkRecords({ redis, keyspace }, COUNTED_AT_ONCE)) {
    const deliveries = await Promise.all(names.map((name) => readDeliveries(keys.prefix, name)));
    counted += z.number().parse(await count(names, [keys.prefix, now(), ...deliveries]));
  }
  return counted;
}
