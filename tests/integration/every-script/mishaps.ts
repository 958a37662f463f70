import type { Redis } from 'ioredis';
import { readKeyName } from '@herald/store/keys/key-name';
import { isRedisUnavailable } from '@herald/store/redis/refusal';
import type { RecordedCall } from './record-call.ts';
import { findDifferences, putBack, readState, type RedisState } from './redis-state.ts';
import type { MovingSlot } from './start-moving-slot.ts';

/** A server of its own, on which calls are repeated from where they were recorded. */
export type Bench = { readonly redis: Redis; readonly writing: ReadonlySet<string> };

/** What a call did where nothing went wrong. */
export type Whole = { readonly before: RedisState; readonly after: RedisState; readonly writes: number };

export async function createBench(redis: Redis): Promise<Bench> {
  const commands = (await redis.call('COMMAND')) as readonly (readonly [string, number, readonly string[]])[];
  const writing = commands.filter(([, , flags]) => flags.includes('write')).map(([name]) => name);
  return { redis, writing: new Set(writing) };
}

const run = (redis: Redis, { lua, keys, args }: RecordedCall) => redis.call('EVAL', lua, keys.length, ...keys, ...args);

/** Runs a call that may fail; returns why it did. */
async function attempt(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Runs it as it should go, and counts its writes. */
export async function runWhole({ redis, writing }: Bench, call: RecordedCall): Promise<Whole> {
  await putBack(redis, call.before);
  const before = await readState(redis);
  await redis.config('RESETSTAT');
  await run(redis, call);
  const used = [...(await redis.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)];
  const counts = used.map(([, name = '', count]) => (writing.has(name) ? Number(count) : 0));
  return { before, after: await readState(redis), writes: counts.reduce((sum, count) => sum + count, 0) };
}

const isSame = (one: RedisState, other: RedisState) => findDifferences(one, other).length === 0;

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

/** What is wrong while the slot moves, with none, some and all of its keys on the other node already. */
export async function moveSlot(slot: MovingSlot, call: RecordedCall, whole: Whole): Promise<string[]> {
  const [key] = call.keys;
  if (key === undefined) return [];
  const kinds = [...new Set(call.before.map(({ key: name }) => kindOf(name)))].sort();
  const isInHalf = (name: string) => kinds.indexOf(kindOf(name)) % 2 === 0;
  const shares = { none: () => false, some: isInHalf, all: () => true };
  for (const [share, hasGone] of Object.entries(shares)) {
    await slot.begin(key, call.before, hasGone);
    const why = await attempt(() => slot.run(call));
    const moved = `${share} of its keys have gone (${why ?? 'it ran'})`;
    const { state, twice } = await slot.readState();
    if (twice.length > 0) return [`${moved}: both nodes have ${twice.join(', ')}`];
    const [part] = why === undefined ? findDifferences(whole.after, state) : findDifferences(whole.before, state);
    if (part !== undefined) return [`${moved}: ${part}`];
    if (why === undefined) continue;
    if (!isRedisUnavailable(new Error(why))) return [`${moved}, which is no reason to ask again`];
    await slot.end();
    const refusal = await attempt(() => slot.run(call));
    const [difference] = findDifferences(whole.after, await readState(slot.source));
    if (refusal !== undefined || difference !== undefined)
      return [`${moved}, and then: ${refusal ?? difference ?? ''}`];
  }
  return [];
}
