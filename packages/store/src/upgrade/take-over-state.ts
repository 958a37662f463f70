import type { Keyspace } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { createFormerKeys } from './former-keys.ts';
import { TAKE_OVER_BREAKERS_LUA, TAKE_OVER_PAUSE_LUA } from './former-state-scripts.ts';

/** Breakers of one script: Redis does nothing else meanwhile. */
const PAGE = 100;

/** Keeps paused queues paused. */
export async function takeOverPauses(redis: RedisClient, { shards }: Keyspace): Promise<void> {
  await Promise.all(
    shards.map(({ prefix, queue }) =>
      redis.eval(TAKE_OVER_PAUSE_LUA, 2, createFormerKeys(prefix).settings, queue.settings),
    ),
  );
}

/** Keeps open breakers open, and paused destinations paused. */
export async function takeOverBreakers(redis: RedisClient, { shards }: Keyspace, now: () => number): Promise<void> {
  for await (const { names } of walkKeys(redis, '{*}:k:*')) {
    for (const { prefix } of shards) {
      const { breaker } = createFormerKeys(prefix);
      const start = breaker('');
      const ids = names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
      for (let from = 0; from < ids.length; from += PAGE) {
        const page = ids.slice(from, from + PAGE);
        await redis.eval(TAKE_OVER_BREAKERS_LUA, page.length, ...page.map(breaker), prefix, now(), ...page);
      }
    }
  }
}
