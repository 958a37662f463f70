import type { Redis } from 'ioredis';
import { readKeyName } from '@herald/store/shards/key-name';
import { findHarm } from './find-harm.ts';
import type { RecordedCall } from './record-call.ts';
import { findDifferences, putBack, readState, type RedisState } from './redis-state.ts';
import type { MovingSlot } from './start-moving-slot.ts';

/** A server of its own, on which calls are repeated from where they were recorded. */
export type Bench = { readonly redis: Redis; readonly writing: ReadonlySet<string> };

/** What a call did where nothing went wrong. */
export type Whole = { readonly before: RedisState; readonly after: RedisState; readonly writes: number };

export async function createBench(redis: Redis): Promise<Bench> {
  const commands = (await redis.call('COMMAND')) as readonly (readonly [string, number, readonly string[]])[];
  const writing = commands.filter(([, , flags]) => flags.includes('write')).map(([name]) => name.toUpperCase());
  return { redis, writing: new Set(writing) };
}

const run = (redis: Redis, { lua, keys, args }: RecordedCall, source = lua) =>
  redis.call('EVAL', source, keys.length, ...keys, ...args);

/** Runs a call that may fail; returns why it did. */
async function attempt(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The script, with each of its writes counted in the key given last. From the n-th on the server refuses them all, and
 * what came before stays: Redis takes nothing back.
 */
function refuseWritesFrom(n: number, lua: string, writing: ReadonlySet<string>): string {
  const names = [...writing].map((name) => `['${name}']=1`).join(',');
  const prelude = `local refused_real, refused_count, refused_names = redis, 0, {${names}}
local function refused_look(name)
  if not refused_names[string.upper(name)] then return end
  refused_count = refused_count + 1
  if refused_count >= ${n} then error({ err = 'ERR refused' }) end
end
local redis = setmetatable({
  call = function(name, ...) refused_look(name) return refused_real.call(name, ...) end,
  pcall = function(name, ...)
    local succeeded, refusal = pcall(refused_look, name)
    if not succeeded then return refusal end
    return refused_real.pcall(name, ...)
  end,
  countOfWrites = function() return refused_count end,
}, { __index = refused_real })
`;
  // A script's own flags stand in its first line.
  const [first = '', ...rest] = lua.split('\n');
  return first.startsWith('#!') ? `${first}\n${prelude}${rest.join('\n')}` : prelude + lua;
}

/** Runs it as it should go, and counts its writes. */
export async function runWhole({ redis, writing }: Bench, call: RecordedCall): Promise<Whole> {
  await putBack(redis, call.before);
  const before = await readState(redis);
  const counted = `${refuseWritesFrom(Infinity, '', writing).replace('>= Infinity', '>= math.huge')}
local function refused_run(...)
${call.lua.replace(/^#!.*\n/, '')}
end
refused_run()
return redis.countOfWrites()`;
  const writes = Number(await run(redis, call, counted));
  return { before, after: await readState(redis), writes };
}

const isSame = (one: RedisState, other: RedisState) => findDifferences(one, other).length === 0;

/** What is wrong when every write from the n-th on is refused, at the first n where it is, and the caller then asks again. */
export async function refuseEachWrite({ redis, writing }: Bench, call: RecordedCall, whole: Whole): Promise<string[]> {
  for (let n = 1; n <= whole.writes; n++) {
    await putBack(redis, call.before);
    await attempt(() => run(redis, call, refuseWritesFrom(n, call.lua, writing)));
    const state = await readState(redis);
    if (isSame(state, whole.before) || isSame(state, whole.after)) continue;
    await attempt(() => run(redis, call));
    const healed = await readState(redis);
    const [difference] = findDifferences(whole.after, healed);
    if (difference === undefined) continue;
    const faults = await findHarm(redis, call.scene.hasHistory);
    return [`write ${n} of ${whole.writes} is refused, and asking again leaves: ${faults[0] ?? difference}`];
  }
  return [];
}

/** What is wrong when the memory of Redis is used up. */
export async function fillMemory({ redis }: Bench, call: RecordedCall, whole: Whole): Promise<string[]> {
  await putBack(redis, call.before);
  let why: string | undefined;
  await redis.config('SET', 'maxmemory', '1');
  try {
    why = await attempt(() => run(redis, call));
  } finally {
    await redis.config('SET', 'maxmemory', '0');
  }
  const state = await readState(redis);
  if (isSame(state, whole.after)) return [];
  if (!isSame(state, whole.before)) return [`a part of it: ${findDifferences(whole.after, state)[0] ?? ''}`];
  return call.scene.mustWorkWhenFull ? [`it is refused: ${why ?? 'without a word'}`] : [];
}

/** What is wrong when the reply is lost, and the client sends the same call once more. */
export async function sendTwice({ redis }: Bench, call: RecordedCall, whole: Whole): Promise<string[]> {
  await putBack(redis, call.before);
  await run(redis, call);
  const why = await attempt(() => run(redis, call));
  const [difference] = findDifferences(whole.after, await readState(redis));
  return [...(why === undefined ? [] : [why]), ...(difference === undefined ? [] : [difference])];
}

/** Keys that have the same place in the layout go together, whatever ids are in their names. */
const kindOf = (key: string) => readKeyName(key)?.kind ?? key;

/** What is wrong while the slot moves, with none, half and all of its keys on the other node already. */
export async function moveSlot(slot: MovingSlot, call: RecordedCall, whole: Whole): Promise<string[]> {
  const [key] = call.keys;
  if (key === undefined) return [];
  const kinds = [...new Set(call.before.map(({ key: name }) => kindOf(name)))].sort();
  const halfOf = (rest: number) => (name: string) => kinds.indexOf(kindOf(name)) % 2 === rest;
  const shares = { none: () => false, 'one half': halfOf(0), 'the other half': halfOf(1), all: () => true };
  for (const [share, hasGone] of Object.entries(shares)) {
    await slot.begin(key, call.before, hasGone);
    const why = await slot.run(call);
    const { state, twice } = await slot.readState();
    if (twice.length > 0) {
      return [`${share} of its keys have gone (${why ?? 'no error'}): both nodes have ${twice.join(', ')}`];
    }
    if (isSame(state, whole.after) || (why !== undefined && isSame(state, whole.before))) continue;
    await slot.end();
    await attempt(() => run(slot.source, call));
    const faults = await findHarm(slot.source, call.scene.hasHistory);
    const [difference] = findDifferences(whole.after, await readState(slot.source));
    if (difference === undefined && faults.length === 0) continue;
    return [`${share} of its keys have gone (${why ?? 'no error'}): ${faults[0] ?? difference ?? ''}`];
  }
  return [];
}
