import { REPLAY_LIMIT, type DeliveryStatus, type EndpointId, type WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { CREATE_REPLAY_LUA, STOP_REPLAY_LUA } from './replay-scripts.ts';

/** A replay and how far it is. Times are epoch ms. */
export type Replay = {
  readonly id: string;
  readonly endpointId: EndpointId;
  readonly since: number;
  /** Not included. */
  readonly until: number;
  readonly statuses: readonly DeliveryStatus[];
  /** `stopped`: by request, or because the receiver was disabled or removed. */
  readonly status: 'running' | 'done' | 'stopped';
  readonly createdAt: number;
  readonly endedAt?: number;
  /** Deliveries of the time range, those looked at, and those set pending again. */
  readonly total: number;
  readonly seen: number;
  readonly replayed: number;
};

export type NewReplay = Pick<Replay, 'id' | 'endpointId' | 'since' | 'until' | 'statuses' | 'createdAt'>;

/** `full`: the workspace has as many under way as it may. */
export type CreateReplayReply = z.infer<typeof CreateReplayReply>;
const CreateReplayReply = z.enum(['created', 'missing', 'disabled', 'full']);

export type ReplayStore = {
  readonly create: (workspaceId: WorkspaceId, replay: NewReplay) => Promise<CreateReplayReply>;
  readonly find: (workspaceId: WorkspaceId, id: string) => Promise<Replay | undefined>;
  /** False when this workspace has no such replay. */
  readonly stop: (workspaceId: WorkspaceId, id: string, now: number) => Promise<boolean>;
};

export type ReplayStoreDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** How long an ended replay can be looked up, in ms. */
  readonly keepMs: number;
};

export function createReplayStore(deps: ReplayStoreDeps): ReplayStore {
  const { redis, keyspace, keepMs } = deps;
  const create = defineReplicatedScript(deps, 'createReplay', CREATE_REPLAY_LUA);
  const stop = defineReplicatedScript(deps, 'stopReplay', STOP_REPLAY_LUA);
  const replayKeys = (keys: ShardKeys, id: string) => [keys.replay(id), keys.replays];
  return {
    async create(workspaceId, { id, endpointId, since, until, statuses, createdAt }) {
      const keys = keyspace.of(workspaceId);
      const reply = await create(
        [
          ...[...replayKeys(keys, id), keys.endpoint(endpointId), keys.endpointLog(endpointId)],
          keys.workspaceReplays(workspaceId),
        ],
        [...[id, createdAt, workspaceId, endpointId, since, until, statuses.join(',')], ...[keys.prefix, REPLAY_LIMIT]],
      );
      return CreateReplayReply.parse(reply);
    },
    async find(workspaceId, id) {
      const fields = await redis.hgetall(keyspace.of(workspaceId).replay(id));
      return fields.ws === workspaceId ? readReplay(id, fields) : undefined;
    },
    async stop(workspaceId, id, now) {
      const reply = await stop(replayKeys(keyspace.of(workspaceId), id), [id, workspaceId, now, keepMs]);
      return reply !== 'missing';
    },
  };
}

function readReplay(id: string, fields: Record<string, string>): Replay {
  const { e, s, statuses, end } = fields;
  return {
    id,
    endpointId: e ?? '',
    since: Number(fields.since),
    until: Number(fields.until),
    createdAt: Number(fields.at),
    statuses: (statuses ?? '').split(',') as DeliveryStatus[],
    status: z.enum(['running', 'done', 'stopped']).parse(s),
    ...(end !== undefined && { endedAt: Number(end) }),
    total: Number(fields.total),
    seen: Number(fields.seen),
    replayed: Number(fields.replayed),
  };
}
