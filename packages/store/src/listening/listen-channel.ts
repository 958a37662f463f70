import type { TransitionId, WorkspaceId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';

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
export type Follower = {
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
