import { hash } from 'node:crypto';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript, type Script } from './script.ts';

/** Sends `SCRIPT LOAD <source>` or `EVALSHA <sha> <number of keys> <key>... <arg>...` for a library's own scripts. */
export type SendScriptCommand = (command: readonly string[]) => Promise<unknown>;

/**
 * Runs a library's scripts as our own. A library that loads its scripts once fails for good when Redis is away just
 * then. Here only this process loads them, and Redis gets the source whenever it doesn't know a script.
 */
export function createScriptCommands(redis: RedisClient): SendScriptCommand {
  const scripts = new Map<string, Script>();
  const load = (source: string): string => {
    const sha = hash('sha1', source, 'hex');
    // What counts requests must not keep out those that free memory.
    const lua = `#!lua flags=allow-oom\n${source}`;
    if (!scripts.has(sha)) scripts.set(sha, defineScript(redis, lua));
    return sha;
  };
  return async ([command, ...rest]) => {
    if (command === 'SCRIPT' && rest[0] === 'LOAD' && rest[1] !== undefined) return load(rest[1]);
    const [sha = '', keyCount = '', ...args] = rest;
    const script = command === 'EVALSHA' ? scripts.get(sha) : undefined;
    if (!script)
      throw new Error(`a library may load scripts and run them, and nothing else; it sent ${command ?? 'nothing'}`);
    const keys = Number(keyCount);
    return await script(args.slice(0, keys), args.slice(keys));
  };
}
