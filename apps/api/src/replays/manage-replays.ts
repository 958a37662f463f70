import {
  newReplayId,
  newSeed,
  NotFoundError,
  ReceiverDisabledError,
  type EndpointId,
  type RequestReplay,
  type Seed,
  type WorkspaceId,
} from '@herald/core';
import type { AcceptanceMetrics, Logger, Replay, ReplayStore } from '@herald/infra';

export type ManageReplaysDeps = {
  readonly replays: ReplayStore;
  readonly metrics: Pick<AcceptanceMetrics, 'replayRequested'>;
  readonly logger: Logger;
  readonly now: () => number;
};

/** Replays of a receiver's deliveries. A worker carries them out. */
export function createManageReplays({ replays, metrics, logger, now }: ManageReplaysDeps) {
  const find = async (workspaceId: WorkspaceId, id: string): Promise<Replay> => {
    const replay = await replays.find(workspaceId, id);
    if (!replay) throw new NotFoundError('replay', id);
    return replay;
  };
  return {
    find,
    async request(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      request: RequestReplay,
      { at: createdAt, random }: Seed = newSeed(now()),
    ): Promise<Replay> {
      const id = newReplayId(random);
      const { since, until = createdAt + 1, status: statuses } = request;
      const reply = await replays.create(workspaceId, { id, endpointId, since, until, statuses, createdAt });
      if (reply === 'missing') throw new NotFoundError('receiver', endpointId);
      if (reply === 'disabled') throw new ReceiverDisabledError(endpointId);
      metrics.replayRequested();
      logger.info('replay.requested', { replayId: id, endpointId, workspaceId });
      return await find(workspaceId, id);
    },
    async stop(workspaceId: WorkspaceId, id: string): Promise<Replay> {
      if (!(await replays.stop(workspaceId, id, now()))) throw new NotFoundError('replay', id);
      return await find(workspaceId, id);
    },
  };
}
export type ManageReplays = ReturnType<typeof createManageReplays>;
