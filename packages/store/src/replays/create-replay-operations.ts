import {
  newReplayId,
  newSeed,
  NotFoundError,
  ReceiverDisabledError,
  REPLAY_LIMIT,
  ReplayLimitReachedError,
  type EndpointId,
  type RequestReplay,
  type Seed,
  type WorkspaceId,
} from '@herald/core';
import type { Replay } from './replay-record.ts';
import type { ReplayStore } from './replay-store.ts';

export type ReplayOperationsDeps = {
  readonly replays: ReplayStore;
  readonly onRequested: (replay: Pick<Replay, 'id' | 'endpointId'>, workspaceId: WorkspaceId) => void;
  readonly now: () => number;
};

/** Replays of a receiver's deliveries, which a worker carries out. Each operation throws NotFoundError. */
export function createReplayOperations({ replays, onRequested, now }: ReplayOperationsDeps) {
  const find = async (workspaceId: WorkspaceId, id: string): Promise<Replay> => {
    const replay = await replays.find(workspaceId, id);
    if (!replay) throw new NotFoundError('replay', id);
    return replay;
  };
  return {
    find,
    /** @throws ReceiverDisabledError, ReceiverLockedError or ReplayLimitReachedError */
    async request(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      { since, until, status: statuses }: RequestReplay,
      { at: createdAt, random }: Seed = newSeed(now()),
    ): Promise<Replay> {
      const id = newReplayId(random);
      const replay = { id, endpointId, since, until: until ?? createdAt + 1, statuses, createdAt };
      const reply = await replays.create(workspaceId, replay);
      if (reply === 'missing') throw new NotFoundError('receiver', endpointId);
      if (reply === 'disabled') throw new ReceiverDisabledError(endpointId);
      if (reply === 'full') throw new ReplayLimitReachedError(REPLAY_LIMIT);
      onRequested({ id, endpointId }, workspaceId);
      return await find(workspaceId, id);
    },
    async stop(workspaceId: WorkspaceId, id: string): Promise<Replay> {
      if (!(await replays.stop(workspaceId, id, now()))) throw new NotFoundError('replay', id);
      return await find(workspaceId, id);
    },
  };
}
export type ReplayOperations = ReturnType<typeof createReplayOperations>;
