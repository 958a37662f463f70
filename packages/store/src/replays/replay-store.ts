import { ReceiverLockedError, REPLAY_LIMIT, type WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { LockedReply } from '../endpoints/endpoint-patch.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import type { Keyspace } from '../keys/keys.ts';
import { createLogReader } from '../logs/log-reader.ts';
import { readReplay, type Replay } from './replay-record.ts';
import { CREATE_REPLAY_LUA, STOP_REPLAY_LUA } from './replay-scripts.ts';

export type NewReplay = Pick<Replay, 'id' | 'endpointId' | 'since' | 'until' | 'statuses' | 'createdAt'>;

export type ReplayStoreDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** How long an ended replay can be looked up, in ms. */
  readonly keepMs: number;
};

const CreateReply = z.union([z.tuple([z.enum(['created', 'missing', 'disabled', 'full'])]), LockedReply]);

export function createReplayStore(deps: ReplayStoreDeps) {
  const { redis, keyspace, keepMs } = deps;
  const create = defineReplicatedScript(deps, CREATE_REPLAY_LUA);
  const logs = createLogReader(redis);
  const stop = defineReplicatedScript(deps, STOP_REPLAY_LUA);
  return {
    /**
     * `full`: the workspace has as many replays under way as it may.
     * @throws ReceiverLockedError
     */
    async create(workspaceId: WorkspaceId, { id, endpointId, since, until, statuses, createdAt }: NewReplay) {
      const keys = keyspace.of(workspaceId);
      const total = await logs.count(keys.endpointLog(endpointId), { since, until });
      const reply = await create(
        [keys.replay(id), keys.replays, keys.endpoint(endpointId), keys.workspaceReplays(workspaceId)],
        [id, createdAt, workspaceId, endpointId, since, until, statuses.join(','), keys.prefix, REPLAY_LIMIT, total],
      );
      const [kind, reason] = CreateReply.parse(reply);
      if (kind === 'locked') throw new ReceiverLockedError(endpointId, reason);
      return kind;
    },
    async find(workspaceId: WorkspaceId, id: string) {
      const fields = await redis.hgetall(keyspace.of(workspaceId).replay(id));
      return fields.ws === workspaceId ? readReplay(id, fields) : undefined;
    },
    /** False when this workspace has no such replay. */
    async stop(workspaceId: WorkspaceId, id: string, now: number) {
      const keys = keyspace.of(workspaceId);
      return (await stop([keys.replay(id), keys.replays], [id, workspaceId, now, keepMs])) !== 'missing';
    },
  };
}
export type ReplayStore = ReturnType<typeof createReplayStore>;
