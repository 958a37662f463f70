import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import type { RedisClient } from './connect-redis.ts';

/** The names and values of a section of `INFO`; undefined where the user may not read it. */
export async function readInfo(redis: RedisClient, section: string): Promise<ReadonlyMap<string, string> | undefined> {
  const text = await ifPermitted(redis.info(section));
  if (text === undefined) return undefined;
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** A setting of the server; undefined where the user may not read it, or the server doesn't have it. */
export async function readSetting(redis: RedisClient, name: string): Promise<string | undefined> {
  const reply = await ifPermitted(redis.config('GET', name));
  return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined;
}

/** A reply; undefined where a managed server or an access list refuses the command, by NOPERM or as an unknown one. */
export async function ifPermitted<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (isErrorLike(error) && /^(NOPERM|ERR unknown command|ERR command not allowed)/i.test(error.message)) {
      return undefined;
    }
    throw error;
  }
}
