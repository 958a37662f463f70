import type { WorkspaceId } from '@herald/core';
import { z } from 'zod';
import type { Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineScript } from '../redis/script.ts';
import { HOLD_LISTENER_LUA } from './hold-listener-script.ts';

/** Listeners of a workspace at a time, over all API processes. */
export const LISTENER_LIMIT = 5;
/** How long the slot of a listener lasts unless it is kept, in ms: that of a process that died is free after this. */
const SLOT_MS = 30_000;
/** How long accepting processes tell of events after somebody listened, in ms. */
const LISTENED_MS = 60_000;

const HoldReply = z.enum(['held', 'full']);

export type ListenerStoreDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

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
