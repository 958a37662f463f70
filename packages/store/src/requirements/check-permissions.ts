import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Finding } from '@herald/runtime/findings/finding';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { SHARD_TAGS } from '../keyspace/shards.ts';
import { listNeededCommands } from './needed-commands.ts';
import { refusalOf } from '../server/refusal.ts';

export type CheckPermissionsOptions = {
  /** Whom the connection signs in as. */
  readonly user: string;
  readonly shardCount: number;
  /** Whether writes wait until replicas have them. */
  readonly waits: boolean;
};

export const MAY_LUA = /* lua */ `
-- Asks what the user of this connection may do. Does none of it, and touches no key.
-- ARGV[1..] commands, each as a JSON list of its words
-- Returns for each 'yes', 'no', or 'unknown': the server has no such command. Nothing where it can't be asked.
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

/** Where Herald has its keys: an example of each, and the pattern that an access list needs for it. */
const GLOBAL_PLACE = { key: GLOBAL_KEYS.probe, pattern: '~herald:*' };
const SHARD_PATTERN = '~{h*';

/** What can't be done, in the words of an access list, and what the server doesn't have at all. */
type Lack = { readonly commands: Set<string>; readonly patterns: Set<string>; readonly unknown: Set<string> };

/**
 * Whether the user may run what Herald runs: by running a script as Herald does, which asks for everything else. Costs Redis some
 * tenths of a millisecond. Throws only when Redis can't be reached.
 */
export async function checkPermissions(redis: Redis, options: CheckPermissionsOptions): Promise<Finding[]> {
  const lack: Lack = { commands: new Set(), patterns: new Set(), unknown: new Set() };
  await askForScripts(redis, lack);
  if (lack.commands.size + lack.unknown.size === 0) await askForCommands(redis, options, lack);
  return describeLack(lack, options.user);
}

/** The client sends a script's source at first, and then its SHA-1: both must be allowed. */
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
  const reach = await ask(
    redis,
    places.map(({ key }) => ['EVALSHA', MAY_SHA, '1', key]),
  );
  for (const [index, { pattern }] of places.entries()) if (reach[index] === 'no') lack.patterns.add(pattern);
  // One key of each kind is enough: that all shards can be reached was asked before.
  const within = places.slice(0, 2).filter((_, index) => reach[index] !== 'no');
  const needed = listNeededCommands(
    { waits },
    within.map(({ key }) => key),
  );
  const answers = await ask(
    redis,
    needed.map(({ words }) => words),
  );
  for (const [index, { words, isOnChannel }] of needed.entries()) {
    if (answers[index] === 'unknown') lack.unknown.add(words[0].toLowerCase());
    if (answers[index] !== 'no') continue;
    lack.commands.add(words[0].toLowerCase());
    if (isOnChannel) lack.patterns.add('&herald:test:*');
  }
}

async function ask(redis: Redis, commands: readonly (readonly string[])[]) {
  const words = commands.map((command) => JSON.stringify(command));
  return Answers.parse(await redis.call('EVAL', MAY_LUA, 0, ...words));
}

function describeLack({ commands, patterns, unknown }: Lack, user: string): Finding[] {
  const found: Finding[] = [];
  if (unknown.size > 0) {
    found.push({
      level: 'error',
      code: 'redis_command_missing',
      sentence: `Redis has no command ${list(unknown)}, which Herald needs; take "rename-command" for it out of its configuration`,
    });
  }
  if (commands.size + patterns.size > 0) {
    const what = [
      ...(commands.size > 0 ? [`run ${list(commands)}`] : []),
      ...(patterns.size > 0 ? [`use all keys and channels of Herald's (${list(patterns)})`] : []),
    ];
    const rules = [...[...commands].map((name) => `+${name}`), ...patterns].join(' ');
    found.push({
      level: 'error',
      code: 'redis_not_permitted',
      sentence: `Redis doesn't let the user ${user} ${what.join(', nor ')}; allow it with ACL SETUSER ${user} ${rules}`,
    });
  }
  return found;
}

function list(names: ReadonlySet<string>): string {
  return [...names].join(', ');
}
