import {
  DomainError,
  eventOf,
  factKeyOf,
  isTerminal,
  UnavailableError,
  type TaskId,
  type TransitionReport,
  type WorkspaceId,
} from '@herald/core';
import type { AwaitReplication } from '@herald/store/redis/await-replication';
import type { Keyspace } from '@herald/store/keys/keys';
import type { Logger } from '@herald/runtime/log/logger';
import type { AcceptedTransition, AcceptTransitions } from './accept-transitions.ts';

export type AcceptReplicatedDeps = {
  readonly acceptTransitions: AcceptTransitions;
  readonly findTaskWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly awaitReplication: AwaitReplication;
  readonly keyspace: Keyspace;
  readonly logger: Logger;
};

/**
 * Waits until the replicas have each accepted transition. One that they do not have in time is `unavailable`, although
 * it may be stored: reported again, it is a duplicate. A duplicate waits too, because the replicas may lack its fact.
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
        const fact = { field: factKeyOf(report), least: leastSequence(report, result) };
        const isReplicated =
          workspaceId !== undefined &&
          (await awaitReplication({ key: keyspace.of(workspaceId).facts(taskId), ...fact }));
        if (isReplicated) return result;
        logger.warn('transition.unreplicated', { transitionId: result.transitionId, taskId });
        return new UnavailableError('too few replicas of Redis have the transition yet; report it again');
      }),
    );
  };
}

/**
 * The sequence that the fact has at least. One that emits has a sequence, whatever was known of it before. Only a
 * closed Task keeps a checkpoint that emitted nothing as it is.
 */
function leastSequence(report: TransitionReport, { differs, status }: AcceptedTransition): number {
  return eventOf(report) && !(differs && isTerminal(status)) ? 1 : 0;
}
