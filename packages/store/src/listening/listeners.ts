import type { TransitionId, WorkspaceId } from '@herald/core';
import { z } from 'zod';
import type { Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineScript } from '../redis/script.ts';

/** Listeners of a workspace at a time, over all API processes. */
export const LISTENER_LIMIT = 5;
/** How long the slot of a listener lasts unless it is kept, in ms: that of a process that died is free after this. */
const SLOT_MS = 30_000;
/** How long accepting processes tell of events after somebody listened, in ms. */
const LISTENED_MS = 60_000;

const HoldReply = z.enum(['held', 'full']);

type ListenerStoreDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

/** Who listens to which workspace. */
export function createListenerStore({ redis, keyspace }: ListenerStoreDeps) {
  const hold = defineScript(redis, HOLD_LISTENER_LUA);
  return {
    /**
     * Takes a slot for a listener, or keeps it. Once it is held, every event that is decided on from then on is
     * published. Call it again at least every ten seconds.
     * @param now epoch ms
     */
    async hold(workspaceId: WorkspaceId, listenerId: string, now: number) {
      const { listeners, subscriptionVersion } = keyspace.of(workspaceId);
      const keys = [listeners(workspaceId), subscriptionVersion(workspaceId)];
      return HoldReply.parse(await hold(keys, [listenerId, LISTENER_LIMIT, now, SLOT_MS, newRevision(), LISTENED_MS]));
    },
    async release(workspaceId: WorkspaceId, listenerId: string): Promise<void> {
      await redis.zrem(keyspace.of(workspaceId).listeners(workspaceId), listenerId);
    },
  };
}
export type ListenerStore = ReturnType<typeof createListenerStore>;

const HOLD_LISTENER_LUA = /* lua */ `
-- Give a listener a slot of its workspace, or keep the one that it has. A slot that nobody keeps ends by itself.
-- The version of the subscriptions then says until when somebody listens. It changes only when less than half of that
-- time is left: however many come and go, every cached copy of the subscriptions is read anew as rarely as that.
-- KEYS[1] listeners of the workspace (zset: id, end of its slot)   KEYS[2] subscription version (string)
-- ARGV[1] listener id   ARGV[2] limit   ARGV[3] now (ms)   ARGV[4] how long a slot lasts (ms)
-- ARGV[5] token of a new version   ARGV[6] how long a version tells of listeners (ms)
-- Returns 'held' | 'full'.
local now, lasts = tonumber(ARGV[3]), tonumber(ARGV[6])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local isKnown = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not isKnown and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 'full' end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local listened = tonumber(string.match(redis.call('GET', KEYS[2]) or '', ':(%d+)$') or 0)
if listened - now < lasts / 2 then
  redis.call('SET', KEYS[2], ARGV[5] .. ':' .. string.format('%.0f', now + lasts))
end
return 'held'
`;

/** An event of a workspace, as its listeners get it. */
export type ListenedEvent = {
  readonly transitionId: TransitionId;
  readonly event: string;
  /** The body that every delivery of the transition has. */
  readonly body: string;
};

// Below herald:test:, which is what Redis users of former releases may use.
const channelOf = (workspaceId: WorkspaceId) => `herald:test:listen:${workspaceId}`;

/** Tells the listeners of a workspace, in whichever process they are. */
export async function publishListened(
  redis: RedisClient,
  workspaceId: WorkspaceId,
  { transitionId, event, body }: ListenedEvent,
): Promise<void> {
  await redis.publish(channelOf(workspaceId), `${transitionId} ${event} ${body}`);
}

/** One word, where an event has three: processes of former releases read no event in it. */
const REVOKED = 'revoked';

/** Whether the open streams of a workspace were told of a revocation. `untold`: why not. */
export type Told = { readonly untold?: unknown };

/**
 * Tells the open streams of a workspace, in whichever process they are, that a key or a link of it was revoked: each
 * asks at once whether its own still holds. Never throws, since the revocation counts all the same: a stream that is not
 * told asks at its next beat.
 */
export async function tellRevoked(redis: RedisClient, workspaceId: WorkspaceId): Promise<Told> {
  try {
    await redis.publish(channelOf(workspaceId), REVOKED);
    return {};
  } catch (untold) {
    return { untold };
  }
}

function readMessage(text: string): ListenedEvent | undefined {
  const [, transitionId, event, body] = /^(\S+) (\S+) (.+)$/s.exec(text) ?? [];
  if (transitionId === undefined || event === undefined || body === undefined) return undefined;
  return { transitionId, event, body };
}

/** What a stream does with the messages about its workspace. */
type Follower = {
  readonly onEvent: (event: ListenedEvent) => void;
  /** A key or a link of the workspace was revoked. */
  readonly onRevoked: () => void;
};

/** @param redis a connection of its own: a subscribed one can do nothing else */
export function createFollow(redis: RedisClient) {
  const followers = new Map<string, Set<Follower>>();
  redis.on('message', (channel: string, text: string) => {
    const some = followers.get(channel) ?? [];
    const event = readMessage(text);
    for (const { onEvent, onRevoked } of some) {
      if (text === REVOKED) onRevoked();
      else if (event) onEvent(event);
    }
  });

  /**
   * Calls back with everything that is published for a workspace. Once this resolves, it misses nothing while Redis can
   * be reached.
   * @returns ends it
   */
  return async function follow(workspaceId: WorkspaceId, follower: Follower) {
    const channel = channelOf(workspaceId);
    const own = followers.get(channel) ?? new Set();
    followers.set(channel, own.add(follower));
    const leave = async () => {
      if (!own.delete(follower) || own.size > 0) return;
      followers.delete(channel);
      await redis.unsubscribe(channel);
    };
    try {
      await redis.subscribe(channel);
    } catch (error) {
      own.delete(follower);
      if (own.size === 0) followers.delete(channel);
      throw error;
    }
    return leave;
  };
}
export type Follow = ReturnType<typeof createFollow>;
