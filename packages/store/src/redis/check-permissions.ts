import { error, type Finding } from '@herald/runtime/finding';
import type { Redis } from 'ioredis';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { GLOBAL_KEYS, SHARD_TAGS } from '../keys/keys.ts';
import { refusalOf } from './refusal.ts';

type CheckPermissionsOptions = {
  /** The user that the connection signs in as. */
  readonly user: string;
  readonly shardCount: number;
  /** Whether writes wait until replicas have them. */
  readonly waits: boolean;
};

const MAY_LUA = /* lua */ `
-- Ask which commands the user of this connection may run. Runs none of them, and touches no key.
-- ARGV[1..] commands, each as a JSON list of its words
-- Returns for each 'yes', 'no', or 'unknown' (the server has no such command). Nothing where the server can't tell.
if not redis.acl_check_cmd then return {} end
local answers = {}
for index, words in ipairs(ARGV) do
  local isKnown, may = pcall(redis.acl_check_cmd, unpack(cjson.decode(words)))
  answers[index] = not isKnown and 'unknown' or may and 'yes' or 'no'
end
return answers
`;
const MAY_SHA = hash('sha1', MAY_LUA, 'hex');
const Answers = z.array(z.enum(['yes', 'no', 'unknown']));

/** An example of a global key, and the pattern that an access list needs for global keys. */
const GLOBAL_PLACE = { key: GLOBAL_KEYS.probe, pattern: '~herald:*' };
const SHARD_PATTERN = '~{h*';

/** Commands and patterns that an access list lacks, and commands that the server doesn't have. */
type Lack = Readonly<Record<'commands' | 'patterns' | 'unknown', Set<string>>>;

/**
 * Whether the user may run everything that Herald runs. Runs one script, which asks for all other commands. Costs Redis
 * some tenths of a millisecond. Throws only when Redis can't be reached.
 */
export async function checkPermissions(redis: Redis, options: CheckPermissionsOptions): Promise<Finding[]> {
  const lack: Lack = { commands: new Set(), patterns: new Set(), unknown: new Set() };
  await askForScripts(redis, lack);
  if (lack.commands.size + lack.unknown.size === 0) await askForCommands(redis, options, lack);
  return describeLack(lack, options.user);
}

/** The client first sends a script's source, and later its SHA-1: both must be allowed. */
async function askForScripts(redis: Redis, lack: Lack): Promise<void> {
  const note = (name: string) => (thrown: unknown) => {
    const refusal = refusalOf(thrown);
    if (refusal === 'not_permitted') lack.commands.add(name);
    else if (refusal === 'unknown_command') lack.unknown.add(name);
    else if (refusal !== 'unknown_script') throw thrown;
  };
  await redis.call('EVAL', MAY_LUA, 0).catch(note('eval'));
  await redis.call('EVALSHA', MAY_SHA, 0).catch(note('evalsha'));
}

async function askForCommands(redis: Redis, { shardCount, waits }: CheckPermissionsOptions, lack: Lack): Promise<void> {
  const tags = [...SHARD_TAGS.slice(0, shardCount), 'herald'];
  const places = [GLOBAL_PLACE, ...tags.map((tag) => ({ key: `{${tag}}:probe`, pattern: SHARD_PATTERN }))];
  const scripts = places.map(({ key }) => `EVALSHA ${MAY_SHA} 1 ${key}`);
  const reach = await ask(redis, scripts);
  for (const [index, { pattern }] of places.entries()) if (reach[index] === 'no') lack.patterns.add(pattern);
  // One global key and one key of a shard are enough: the step before has shown whether all shards can be reached.
  const within = places.slice(0, 2).filter((_, index) => reach[index] !== 'no');
  const keys = within.map(({ key }) => key);
  const needed = listNeededCommands(waits, keys);
  for (const [index, answer] of (await ask(redis, needed)).entries()) {
    const command = needed[index] ?? '';
    const name = command.toLowerCase().split(' ')[0] ?? '';
    if (answer === 'unknown') lack.unknown.add(name);
    if (answer !== 'no') continue;
    lack.commands.add(name);
    if (ON_CHANNELS.includes(command)) lack.patterns.add('&herald:test:*');
  }
}

async function ask(redis: Redis, commands: readonly string[]) {
  const words = commands.map((command) => JSON.stringify(command.split(' ')));
  return Answers.parse(await redis.call('EVAL', MAY_LUA, 0, ...words));
}

function describeLack({ commands, patterns, unknown }: Lack, user: string): Finding[] {
  const found: Finding[] = [];
  if (unknown.size > 0) {
    const sentence = `Redis has no command ${list(unknown)}, which Herald needs; take "rename-command" for it out of its configuration`;
    found.push(error('redis_command_missing', sentence));
  }
  if (commands.size + patterns.size > 0) {
    const what = [
      ...(commands.size > 0 ? [`run ${list(commands)}`] : []),
      ...(patterns.size > 0 ? [`use all keys and channels of Herald's (${list(patterns)})`] : []),
    ].join(', nor ');
    const rules = [...[...commands].map((name) => `+${name}`), ...patterns].join(' ');
    const sentence = `Redis doesn't let the user ${user} ${what}; allow it with ACL SETUSER ${user} ${rules}`;
    found.push(error('redis_not_permitted', sentence));
  }
  return found;
}

function list(names: ReadonlySet<string>): string {
  return [...names].join(', ');
}

/** Commands on a key; `<key>` stands for its name. */
const KEYED = [
  'BITFIELD <key> INCRBY u8 0 1, BZPOPMIN <key> 1, DEL <key>, EXISTS <key>, GET <key>, GETRANGE <key> 0 1, HDEL <key> f, HEXISTS <key> f, HGET <key> f',
  'HGETALL <key>, HINCRBY <key> f 1, HKEYS <key>, INCRBY <key> 1, HLEN <key>, HMGET <key> f, HSET <key> f v, HSTRLEN <key> f, HSETNX <key> f v',
  'LINDEX <key> 0, LLEN <key>, LPOS <key> v, LRANGE <key> 0 1, LSET <key> 0 v, LPOP <key>, PERSIST <key>',
  'PEXPIRE <key> 1, PEXPIREAT <key> 1, PEXPIRETIME <key>, PTTL <key>, RENAME <key> <key>',
  'RPUSH <key> v, SET <key> v, SETRANGE <key> 0 v, UNLINK <key>, ZADD <key> 1 v, ZCARD <key>, ZCOUNT <key> 0 1, ZINCRBY <key> 1 v, ZLEXCOUNT <key> - +, ZMSCORE <key> v, ZPOPMIN <key>',
  'ZRANGE <key> 0 1, ZRANGEBYSCORE <key> 0 1, ZREM <key> v, ZREMRANGEBYRANK <key> 0 1, ZREMRANGEBYSCORE <key> 0 1',
  'XADD <key> * f v, XDEL <key> 1, XINFO STREAM <key>, XLEN <key>, XRANGE <key> - +, XREVRANGE <key> + -, ZSCAN <key> 0, ZSCORE <key> v',
].flatMap((line) => line.split(', '));
const KEYLESS = ['DBSIZE', 'INFO', 'PING', 'SCAN 0', 'TIME'];
/** The channels tell the API how a test event ended. */
const ON_CHANNELS = ['PUBLISH herald:test:x v', 'SUBSCRIBE herald:test:x'];

/**
 * Every command that an API or a worker sends, also in its scripts, except those that run scripts.
 * @param waits whether writes wait until replicas have them
 * @param keys each command on a key is listed for each of these
 */
export function listNeededCommands(waits: boolean, keys: readonly string[]): string[] {
  const keyed = keys.flatMap((key) => KEYED.map((command) => command.replaceAll('<key>', key)));
  return [...keyed, ...KEYLESS, ...(waits ? ['WAIT 1 1'] : []), ...ON_CHANNELS];
}
