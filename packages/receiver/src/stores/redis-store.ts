import { randomUUID } from 'node:crypto';
import {
  checkPositive,
  DEFAULT_LEASE_MS,
  DEFAULT_TTL_MS,
  type DeliveryStore,
  type StoreOptions,
} from './delivery-store.ts';

/** The part of a client that is used: ioredis has `call`, node-redis has `sendCommand`. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> };

export type RedisStoreOptions = StoreOptions & {
  /** Prefix of every key. Default `herald:delivery:`. */
  readonly prefix?: string;
};

const DONE = 'done';

const RELEASE_LUA = `
-- End a claim, unless it ended by itself and the delivery is someone else's by now, or processed.
-- KEYS[1] the delivery (string: 'done', or the token of a claim)   ARGV[1] token
-- Returns 1 | 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`;

/**
 * A store for any number of processes. Each delivery has one key, claimed with `SET NX PX` and later marked as
 * processed.
 */
export function createRedisStore(client: RedisClient, options: RedisStoreOptions = {}): DeliveryStore {
  const { prefix = 'herald:delivery:' } = options;
  const ttl = String(checkPositive(options.ttlMs ?? DEFAULT_TTL_MS, 'ttlMs'));
  const lease = String(checkPositive(options.leaseMs ?? DEFAULT_LEASE_MS, 'leaseMs'));
  const run = (command: string, ...args: string[]) =>
    'call' in client ? client.call(command, ...args) : client.sendCommand([command, ...args]);
  return {
    async claim(id) {
      const key = prefix + id;
      const token = randomUUID();
      if (isText(await run('SET', key, token, 'PX', lease, 'NX'), 'OK')) {
        return {
          kind: 'claimed',
          // Another process may hold the claim by now. The delivery is processed all the same.
          complete: async () => {
            await run('SET', key, DONE, 'PX', ttl);
          },
          release: async () => {
            await run('EVAL', RELEASE_LUA, '1', key, token);
          },
        };
      }
      // A claim that expired between the two commands looks like one in progress. The next try gets it.
      if (!isText(await run('GET', key), DONE)) return { kind: 'in_progress' };
      await run('PEXPIRE', key, ttl); // Herald keeps it longer when it delivers it again, and so must we
      return { kind: 'done' };
    },
  };
}

/** Clients can be configured to return bytes. */
function isText(reply: unknown, expected: string): boolean {
  return (reply instanceof Uint8Array ? Buffer.from(reply).toString() : reply) === expected;
}
