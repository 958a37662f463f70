import type { Redis } from 'ioredis';
import { mastersOf, RedisUnreachableError, type RedisClient } from './connect-redis.ts';

/** Keys that Redis looks at in one step: a few tenths of a millisecond, in which nothing else is served. */
const STEP = 500;

export type KeyStep = {
  readonly names: readonly string[];
  /** Keys of Redis looked at so far, and all of them, both roughly. */
  readonly looked: number;
  readonly total: number;
};

/**
 * Yields the names of all keys that match, step by step, while the service runs: each key that exists from the first
 * step to the last, some twice. Goes from master to master. No slot may be moved between them meanwhile.
 * @throws RedisUnreachableError when a connection broke: a cursor means nothing to a restarted server, or to the
 * replica that took its place
 */
export async function* walkKeys(redis: RedisClient, pattern: string): AsyncGenerator<KeyStep> {
  const connection = { broke: false };
  const onClose = () => {
    connection.broke = true;
  };
  const masters = mastersOf(redis);
  for (const master of masters) master.on('close', onClose);
  try {
    const sizes = await Promise.all(masters.map((master) => master.dbsize()));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let looked = 0;
    for (const master of masters) {
      for await (const names of scanKeys(master, pattern)) {
        if (connection.broke) {
          throw new RedisUnreachableError(
            'The connection to Redis broke on the way through its keys. Start this again.',
          );
        }
        looked = Math.min(looked + STEP, total);
        yield { names, looked, total };
      }
    }
  } finally {
    for (const master of masters) master.off('close', onClose);
  }
}

/** The names of the keys of one server that match, step by step. */
export async function* scanKeys(server: Redis, pattern: string): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const [next, names] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', STEP);
    yield names;
    cursor = next;
  } while (cursor !== '0');
}
