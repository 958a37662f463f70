import type { Redis } from 'ioredis';

/** What one key holds, in an order of its own type, and how long it has to live in ms; negative: for ever. */
export type KeyState = { readonly value: string; readonly ttlMs: number; readonly readAt: number };
export type RedisState = ReadonlyMap<string, KeyState>;
/** `endsAt`: epoch ms; 0: never. */
export type SavedKey = { readonly key: string; readonly dump: Buffer; readonly ttlMs: number; readonly endsAt: number };

/** Two times to live that differ by less are the same, and two times at which a key ends. */
const TTL_TOLERANCE_MS = 20_000;
const LONG_MS = 3_600_000;

const READS: Readonly<Record<string, (key: string) => readonly [string, ...(string | number)[]]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, 0, -1],
  zset: (key) => ['ZRANGE', key, 0, -1, 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

/** Runs commands in one go. On a node that imports a slot, each must say that it asks for it. */
async function runAll(redis: Redis, commands: readonly (readonly [string, ...(string | number)[]])[], asking: boolean) {
  const pipeline = redis.pipeline();
  for (const [name, ...args] of commands) {
    if (asking) pipeline.call('ASKING');
    pipeline.call(name, ...args);
  }
  const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  return asking ? replies.filter((_, index) => index % 2 === 1) : replies;
}

/** All that a server holds. */
export async function readState(redis: Redis, asking = false): Promise<RedisState> {
  const names = (await redis.keys('*')).sort();
  const typeCommands = names.map((key) => ['TYPE', key] as const);
  const types = await runAll(redis, typeCommands, asking);
  const commands = names.flatMap((key, index) => {
    const type = String(types[index]);
    const read = READS[type];
    if (!read) throw new Error(`no test knows how to read a ${type}`);
    return [read(key), ['PTTL', key] as const];
  });
  const replies = await runAll(redis, commands, asking);
  const readAt = Date.now();
  return new Map(
    names.map((key, index) => {
      const reply = replies[2 * index];
      const value = types[index] === 'hash' ? sortPairs(reply as readonly string[]) : reply;
      return [key, { value: JSON.stringify(value), ttlMs: Number(replies[2 * index + 1]), readAt }];
    }),
  );
}

function sortPairs(flat: readonly string[]): string[] {
  const pairs: string[] = [];
  for (let index = 0; index < flat.length; index += 2) pairs.push(`${flat[index] ?? ''} ${flat[index + 1] ?? ''}`);
  return pairs.sort();
}

/** In what `other` differs, as sentences; nothing where both are the same. */
export function findDifferences(one: RedisState, other: RedisState): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].sort().flatMap((key) => {
    const [a, b] = [one.get(key), other.get(key)];
    if (!a || !b) return [`${key} is ${a ? 'missing' : 'there'}`];
    if (a.value !== b.value) return [`${key} is ${b.value} instead of ${a.value}`];
    const endsAlike = Math.sign(a.ttlMs + 0.5) === Math.sign(b.ttlMs + 0.5);
    // Some commands say how long a key lives, and others when it ends: time passes between two looks.
    const [byTtl, byEnd] = [a.ttlMs - b.ttlMs, a.ttlMs + a.readAt - b.ttlMs - b.readAt];
    if (endsAlike && Math.min(Math.abs(byTtl), Math.abs(byEnd)) < TTL_TOLERANCE_MS) return [];
    return [`${key} lives ${b.ttlMs} ms instead of ${a.ttlMs}`];
  });
}

export async function saveKeys(redis: Redis): Promise<readonly SavedKey[]> {
  const names = await redis.keys('*');
  return await Promise.all(
    names.map(async (key) => {
      const [dump, ttl, end] = await Promise.all([redis.dumpBuffer(key), redis.pttl(key), redis.pexpiretime(key)]);
      return { key, dump, ttlMs: Math.max(0, ttl), endsAt: Math.max(0, end) };
    }),
  );
}

/** Puts a server back to what was saved, and to nothing else. */
export async function putBack(redis: Redis, saved: readonly SavedKey[]): Promise<void> {
  const pipeline = redis.pipeline().flushall();
  for (const { key, dump, ttlMs, endsAt } of saved) {
    // A short time begins anew. A long one ends when it did: records say when they leave.
    if (ttlMs > LONG_MS) pipeline.restore(key, endsAt, dump, 'ABSTTL');
    else pipeline.restore(key, ttlMs, dump);
  }
  for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
}
