import type { RedisClient } from '@herald/store/redis/connect-redis';

/** What is no command. */
const LOCAL = new Set(['on', 'off', 'once', 'disconnect']);
const WRITES = new Set(['evalsha', 'hset', 'hdel', 'hsetnx', 'unlink', 'set', 'zadd', 'zrem']);

/** A client whose process dies before its n-th write: that and all that comes after it never reaches Redis. */
export function createMortalClient(redis: RedisClient, dieAt = Infinity) {
  let writes = 0;
  const mortal = new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (typeof name === 'string' && WRITES.has(name)) writes++;
        if (writes >= dieAt && !LOCAL.has(String(name))) return Promise.reject(new Error('killed'));
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { redis: mortal, countWrites: () => writes };
}
