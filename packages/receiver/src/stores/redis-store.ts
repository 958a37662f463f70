import { randomUUID } from 'node:crypto';
import {
  checkPositive,
  DEFAULT_LEASE_MS,
  DEFAULT_TTL_MS,
  type DeliveryStore,
  type StoreOptions,
} from './delivery-store.ts';

/** As much of a client as is needed: ioredis has `call`, node-redis has `sendCommand`. */
export type RedisClient =
  { call(command: string, ...args: string[]): Promise<unknown> } | { sendCommand(args: string[]): Promise<unknown> };

export type RedisStoreOptions = StoreOptions & {
  /** Before every key. Default `herald:delivery:`. */
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

/** For any number of processes. One key per delivery: claimed with `SET NX PX`, processed once it says so. */
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
          // Whoever holds the claim by now: processed is processed.
          complete: async () => {
            await run('SET', key, DONE, 'PX', ttl);
          },
          release: async () => {
            await run('EVAL', RELEASE_LUA, '1', key, token);
          },
        };
      }
      // A claim that ended between the two commands reads as one in progress: the next try gets it.
      if (!isText(await run('GET', key), DONE)) return { kind: 'in_progress' };
      await run('PEXPIRE', key, ttl); // Herald keeps it longer when it delivers it again, and so must we
      return { kind: 'done' };
    },
  };
}

/** Clients may be set up to give replies as bytes. */
function isText(reply: unknown, expected: string): boolean {
  return (reply instanceof Uint8Array ? Buffer.from(reply).toString() : reply) === expected;
}
