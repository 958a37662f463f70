import type { WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { GLOBAL_KEYS, PLATFORM_OWNER, readScoredIds } from '../keys/keys.ts';
import { ACCOUNT_LUA } from '../keys/account-lua.ts';
import { defineScript } from '../redis/script.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { createWorkspaceAccounts, walkRecords, type AccountsDeps } from './workspace-accounts.ts';

/** What an account says, and how much it lacks; below 0: has too much. */
type Amount = { readonly said: number; readonly lacks: number };

/** What is wrong with an account. `leaving`: bytes, by the time at which they leave. */
export type AccountDifference = {
  readonly workspaceId: WorkspaceId;
  readonly pending: Amount;
  readonly bytes: Amount;
  readonly leaving: ReadonlyMap<string, Amount>;
};

type Tally = { pending: number; bytes: number; leaving: Map<string, number> };
/** A walk over all records, between two looks at the accounts. */
type Walk = Record<'before' | 'counted' | 'after', ReadonlyMap<WorkspaceId, Tally>>;

type RecountDeps = AccountsDeps & {
  /** Default: all. */
  readonly workspaceId?: WorkspaceId | undefined;
  readonly onProgress?: (looked: number, total: number) => void;
};

/** Records of one script, and times of one workspace that leave soon enough to be gone before the end of a walk, in ms. */
const AT_ONCE = 100;
const SOON_MS = 60_000;
const WALKS = 2;

const COUNT_ACCOUNTED_LUA = /* lua */ `
-- Read for how much Tasks, callbacks and transitions are counted.
-- KEYS Tasks, callbacks and transitions (hash)
-- ARGV[1] prefix
-- Returns {workspace, pending deliveries, bytes, when it leaves by itself (ms) or 0} of each that is counted.
local prefix, found = ARGV[1], {}
${ACCOUNT_LUA}
for _, key in ipairs(KEYS) do
  local known = redis.call('HMGET', key, 'ws', 'b', 'rev', 'open', 'leaves')
  if known[1] and known[2] then
    local at = known[3] and tonumber(known[5] or '0') or math.max(timeOf(key), 0)
    found[#found + 1] = { known[1], known[3] and 0 or tonumber(known[4] or '0'), tonumber(known[2]), at }
  end
end
return found
`;

const MEND_ACCOUNT_LUA = /* lua */ `#!lua flags=allow-oom
-- Add to the account of a workspace what it lacks. What others add or take off meanwhile stays. A second run changes
-- nothing: what is nearer to the right amount than to what was said has been mended.
-- KEYS[1] workspaces by their pending deliveries (zset)   KEYS[2] by bytes (zset)   KEYS[3] what leaves when (hash)
-- ARGV[1] prefix   ARGV[2] workspace   ARGV[3] what was said of deliveries   ARGV[4] how many it lacks
-- ARGV[5] ARGV[6] the same of bytes   ARGV[7..] time (ms), and the same of the bytes that leave then, ...
-- Returns nothing.
local prefix = ARGV[1]
${ACCOUNT_LUA}
local function lacksOf(value, index)
  local now, said, lacks = tonumber(value or '') or 0, tonumber(ARGV[index]), tonumber(ARGV[index + 1])
  return math.abs(now - said) < math.abs(now - said - lacks) and lacks or 0
end
notePending(ARGV[2], lacksOf(redis.call('ZSCORE', KEYS[1], ARGV[2]), 3))
noteBytes(ARGV[2], lacksOf(redis.call('ZSCORE', KEYS[2], ARGV[2]), 5))
for index = 7, #ARGV, 3 do
  local at = ARGV[index]
  noteLeaving(ARGV[2], lacksOf(redis.call('HGET', KEYS[3], at), index + 1), tonumber(at))
end
writeAccounts()
`;
const Counted = z.array(z.tuple([z.string(), z.number(), z.number(), z.number()]));

/**
 * What accounts lack or have too much, by walks over all Tasks, callbacks, transitions and kept answers, in bounded steps. Others
 * write meanwhile. So a difference is one only if it is larger than what the account itself moved during a walk, and of
 * the walks that one counts that found least. What is busy may keep a difference that a quieter time finds.
 */
export async function findAccountDifferences(deps: RecountDeps): Promise<AccountDifference[]> {
  const walks: Walk[] = [];
  for (let count = 0; count < WALKS; count++) walks.push(await walk(deps));
  const ids = new Set(
    walks.flatMap(({ before, counted, after }) => [before, counted, after].flatMap((each) => [...each.keys()])),
  );
  const soon = deps.now() + SOON_MS;
  return [...ids].sort().flatMap((workspaceId) => {
    const differenceOf = (read: (tally: Tally | undefined) => number): Amount => ({
      said: read(walks.at(-1)?.after.get(workspaceId)),
      lacks: judgeDifference(
        walks.map(({ before, counted, after }) => ({
          before: read(before.get(workspaceId)),
          counted: read(counted.get(workspaceId)),
          after: read(after.get(workspaceId)),
        })),
      ),
    });
    const times = walks.flatMap((each) =>
      [each.before, each.counted].flatMap((all) => [...(all.get(workspaceId)?.leaving.keys() ?? [])]),
    );
    const leaving = [...new Set(times)]
      .filter((at) => Number(at) > soon)
      .map((at) => [at, differenceOf((tally) => tally?.leaving.get(at) ?? 0)] as const)
      .filter(([, { lacks }]) => lacks !== 0);
    const pending = differenceOf((tally) => tally?.pending ?? 0);
    const bytes = differenceOf((tally) => tally?.bytes ?? 0);
    const isRight = pending.lacks === 0 && bytes.lacks === 0 && leaving.length === 0;
    return isRight ? [] : [{ workspaceId, pending, bytes, leaving: new Map(leaving) }];
  });
}

/** By how much what was counted surely differs from an account that moved from one value to another meanwhile. No I/O. */
export function judgeDifference(
  walks: readonly { readonly before: number; readonly counted: number; readonly after: number }[],
): number {
  const sure = walks.map(({ before, counted, after }) => {
    const [low, high] = [counted - Math.max(before, after), counted - Math.min(before, after)];
    return low > 0 ? low : Math.min(high, 0);
  });
  const [least = 0] = sure.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  return sure.every((each) => Math.sign(each) === Math.sign(least)) ? least : 0;
}

/** Mends accounts. Others may write meanwhile. */
export async function mendAccounts({ redis, keyspace }: AccountsDeps, differences: readonly AccountDifference[]) {
  const mend = defineScript(redis, MEND_ACCOUNT_LUA);
  for (const { workspaceId, pending, bytes, leaving } of differences) {
    const keys = keyspace.of(workspaceId);
    const amounts = [pending, bytes].flatMap(({ said, lacks }) => [said, lacks]);
    const times = [...leaving].flatMap(([at, { said, lacks }]) => [at, said, lacks]);
    await mend(
      [keys.pending, keys.held, keys.workspaceLeaving(workspaceId)],
      [keys.prefix, workspaceId, ...amounts, ...times],
    );
  }
}

async function walk(deps: RecountDeps): Promise<Walk> {
  const before = await readAccounts(deps);
  const counted = await countAll(deps);
  return { before, counted, after: await readAccounts(deps) };
}

function tallyOf(tallies: Map<WorkspaceId, Tally>, workspaceId: WorkspaceId): Tally {
  const tally = tallies.get(workspaceId) ?? { pending: 0, bytes: 0, leaving: new Map<string, number>() };
  tallies.set(workspaceId, tally);
  return tally;
}

async function readAccounts(deps: RecountDeps): Promise<Map<WorkspaceId, Tally>> {
  const { redis, keyspace, workspaceId: only } = deps;
  // What has left by itself is taken off first.
  await createWorkspaceAccounts(deps).largest(1);
  const tallies = new Map<WorkspaceId, Tally>();
  for (const keys of only === undefined ? keyspace.shards : [keyspace.of(only)]) {
    for (const [key, name] of [[keys.pending, 'pending'] as const, [keys.held, 'bytes'] as const]) {
      for await (const { id, score } of readScores(deps, key)) {
        if (only === undefined || only === id) tallyOf(tallies, id)[name] = score;
      }
    }
  }
  for (const [workspaceId, tally] of tallies) {
    const times = await redis.hgetall(keyspace.of(workspaceId).workspaceLeaving(workspaceId));
    tally.leaving = new Map(Object.entries(times).map(([at, bytes]) => [at, Number(bytes)]));
  }
  return tallies;
}

async function* readScores({ redis }: RecountDeps, key: string) {
  let cursor = '0';
  do {
    const [next, rows] = await redis.zscan(key, cursor, 'COUNT', 1_000);
    yield* readScoredIds(rows);
    cursor = next;
  } while (cursor !== '0');
}

async function countAll(deps: RecountDeps): Promise<Map<WorkspaceId, Tally>> {
  const { redis, workspaceId: only, onProgress } = deps;
  const count = defineScript(redis, COUNT_ACCOUNTED_LUA);
  const tallies = new Map<WorkspaceId, Tally>();
  // A walk may show a key twice.
  const seen = new Set<string>();
  for await (const { keys, names } of walkRecords(deps, AT_ONCE, onProgress)) {
    const unseen = names.filter((name) => !seen.has(name));
    if (unseen.length === 0) continue;
    for (const name of unseen) seen.add(name);
    for (const [workspaceId, pending, bytes, at] of Counted.parse(await count(unseen, [keys.prefix]))) {
      if (workspaceId.endsWith(PLATFORM_OWNER) || (only !== undefined && only !== workspaceId)) continue;
      const tally = tallyOf(tallies, workspaceId);
      tally.pending += pending;
      tally.bytes += bytes;
      if (at > 0) addLeaving(tally, at, bytes);
    }
  }
  // Each in a slot of its own: no script reads them together.
  for await (const { names } of walkKeys(redis, GLOBAL_KEYS.idempotencyRecord('*'))) {
    const unseen = names.filter((name) => !seen.has(name));
    for (const name of unseen) seen.add(name);
    const rows = await Promise.all(unseen.map((name) => redis.hmget(name, 'ws', 'b', 'leaves')));
    for (const [workspaceId, bytes, leaves] of rows) {
      if (workspaceId == null || (only !== undefined && only !== workspaceId)) continue;
      const tally = tallyOf(tallies, workspaceId);
      tally.bytes += Number(bytes);
      addLeaving(tally, Number(leaves), Number(bytes));
    }
  }
  return tallies;
}

function addLeaving({ leaving }: Tally, at: number, bytes: number): void {
  leaving.set(String(at), (leaving.get(String(at)) ?? 0) + bytes);
}
