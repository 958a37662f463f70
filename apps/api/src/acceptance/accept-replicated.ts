import { DomainError, factKeyOf, UnavailableError, type TaskId, type WorkspaceId } from '@herald/core';
import type { AwaitReplication } from '@herald/store/scripts/await-replication';
import type { Keyspace } from '@herald/store/keyspace/keys';
import type { Logger } from '@herald/runtime/log/logger';
import type { AcceptTransitions } from './accept-transitions.ts';

export type AcceptReplicatedDeps = {
  readonly acceptTransitions: AcceptTransitions;
  readonly findTaskWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly awaitReplication: AwaitReplication;
  readonly keyspace: Keyspace;
  readonly logger: Logger;
};

/**
 * Answers what was accepted only once replicas have it. What they don't have in time is answered as unavailable though it may
 * stand: reported again it is a duplicate, and a duplicate waits for them just the same, since the fact behind it may be one
 * that they never got.
 */
export function createAcceptReplicated(deps: AcceptReplicatedDeps): AcceptTransitions {
  const { acceptTransitions, findTaskWorkspace, awaitReplication, keyspace, logger } = deps;
  return async function acceptReplicated(reports) {
    const results = await acceptTransitions(reports);
    return await Promise.all(
      results.map(async (result, index) => {
        const reported = reports[index];
        if (result instanceof DomainError || !reported) return result;
        const { taskId, report } = reported;
        const workspaceId = reported.workspaceId ?? (await findTaskWorkspace(taskId));
        const isReplicated =
          workspaceId !== undefined &&
          (await awaitReplication({ key: keyspace.of(workspaceId).facts(taskId), field: factKeyOf(report) }));
        if (isReplicated) return result;
        logger.warn('transition.unreplicated', { transitionId: result.transitionId, taskId });
        return new UnavailableError('too few replicas of Redis have the transition yet; report it again');
      }),
    );
  };
}
