import { randomUUID } from 'node:crypto';
import { checkTimes, type Claim, type DeliveryStore, type StoreOptions } from './delivery-store.ts';

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

const RENEW_LUA = `
-- Begin the time of a claim anew, unless it ended by itself.
-- KEYS[1] the delivery (string: 'done', or the token of a claim)   ARGV[1] token   ARGV[2] ms
-- Returns 1 | 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * A store for any number of processes. Each delivery has one key, claimed with `SET NX PX` and later marked as
 * processed.
 * @throws TypeError for a client or options that can't work
 */
export function createRedisStore(client: RedisClient, options: RedisStoreOptions = {}): DeliveryStore {
  const { prefix = 'herald:delivery:' } = options;
  const { ttlMs, leaseMs, renewEveryMs } = checkTimes(options);
  const [ttl, lease] = [String(ttlMs), String(leaseMs)];
  const run = readClient(client);
  return {
    async claim(id) {
      const key = prefix + id;
      const token = randomUUID();
      const claimed: Claim = {
        kind: 'claimed',
        // Another process may hold the claim by now. The delivery is processed all the same.
        complete: async () => {
          await run('SET', key, DONE, 'PX', ttl);
        },
        release: async () => {
          await run('EVAL', RELEASE_LUA, '1', key, token);
        },
        renewal: {
          everyMs: renewEveryMs,
          renew: async () => {
            await run('EVAL', RENEW_LUA, '1', key, token, lease);
          },
        },
      };
      if (textOf(await run('SET', key, token, 'PX', lease, 'NX')) === 'OK') return claimed;
      const holder = textOf(await run('GET', key));
      // The connection broke before the answer came, and the client sent the command again: the claim is this one.
      if (holder === token) return claimed;
      // A claim that expired between the two commands looks like one in progress. The next try gets it.
      if (holder !== DONE) return { kind: 'in_progress' };
      await run('PEXPIRE', key, ttl); // Herald keeps it longer when it delivers it again, and so must we
      return { kind: 'done' };
    },
  };
}

type Run = (command: string, ...args: string[]) => Promise<unknown>;

function readClient(client: unknown): Run {
  const { call, sendCommand, masters } = (client ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof call === 'function') return (...args) => (client as { call: Run }).call(...args);
  if (typeof sendCommand !== 'function') {
    throw new TypeError('client must be one of ioredis, or of node-redis: it has neither call nor sendCommand');
  }
  if (masters !== undefined) {
    throw new TypeError(
      'client is a cluster of node-redis, whose sendCommand takes other arguments: give { sendCommand: (args) => cluster.sendCommand(args[0] === "EVAL" ? args[3] : args[1], false, args) }',
    );
  }
  return (...args) => (client as { sendCommand(args: string[]): Promise<unknown> }).sendCommand(args);
}

/** Clients can be configured to return bytes. */
function textOf(reply: unknown): unknown {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString() : reply;
}
