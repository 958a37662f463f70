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

function readMessage(text: string): ListenedEvent | undefined {
  const [, transitionId, event, body] = /^(\S+) (\S+) (.+)$/s.exec(text) ?? [];
  if (transitionId === undefined || event === undefined || body === undefined) return undefined;
  return { transitionId, event, body };
}

/** @param redis a connection of its own: a subscribed one can do nothing else */
export function createFollow(redis: RedisClient) {
  const followers = new Map<string, Set<(event: ListenedEvent) => void>>();
  redis.on('message', (channel: string, text: string) => {
    const some = followers.get(channel);
    const event = some && readMessage(text);
    if (event) for (const follower of some) follower(event);
  });

  /**
   * Calls back with every event that is published for a workspace. Once this resolves, it misses none while Redis can be
   * reached.
   * @returns ends it
   */
  return async function follow(workspaceId: WorkspaceId, onEvent: (event: ListenedEvent) => void) {
    const channel = channelOf(workspaceId);
    const own = followers.get(channel) ?? new Set();
    followers.set(channel, own.add(onEvent));
    const leave = async () => {
      if (!own.delete(onEvent) || own.size > 0) return;
      followers.delete(channel);
      await redis.unsubscribe(channel);
    };
    try {
      await redis.subscribe(channel);
    } catch (error) {
      own.delete(onEvent);
      if (own.size === 0) followers.delete(channel);
      throw error;
    }
    return leave;
  };
}
export type Follow = ReturnType<typeof createFollow>;
