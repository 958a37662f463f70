import type { EndpointId, WorkspaceId } from '@herald/core';
import { z } from 'zod';
import type { Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { READ_ACTIVITY_LUA } from './activity-script.ts';

export type ActivityReaderDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

const Version = z.string().nullable();

/** Tells whether anything happened to deliveries since the last look, for the price of one short script. */
export function createActivityReader({ redis, keyspace }: ActivityReaderDeps) {
  const read = defineScript(redis, READ_ACTIVITY_LUA);
  return {
    /**
     * A text that changes with what happens to the deliveries of the workspace, or of one of its endpoints.
     * Undefined: the workspace has no such endpoint.
     */
    async readVersion(workspaceId: WorkspaceId, endpointId?: EndpointId): Promise<string | undefined> {
      const { prefix, subscriptionVersion } = keyspace.of(workspaceId);
      const reply = await read([subscriptionVersion(workspaceId)], [prefix, workspaceId, endpointId ?? '']);
      return Version.parse(reply) ?? undefined;
    },
  };
}
export type ActivityReader = ReturnType<typeof createActivityReader>;
