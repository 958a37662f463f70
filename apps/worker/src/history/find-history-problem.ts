import type { Finding } from '@herald/runtime/findings/finding';
import { readSettledBacklog } from '@herald/store/backlog/settled-backlog';
import type { Keyspace } from '@herald/store/keyspace/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { HistoryState } from './history-state.ts';

export type FindHistoryProblemDeps = {
  readonly state: Pick<HistoryState, 'problem'>;
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
};

/** A history that is away, since when, and how many deliveries wait for it in all shards. Asks Redis only then. */
export async function findHistoryProblem(deps: FindHistoryProblemDeps): Promise<Finding | undefined> {
  const { state, redis, keyspace } = deps;
  if (!state.problem()) return undefined;
  const backlogs = Promise.all(keyspace.shards.map((keys) => readSettledBacklog(redis, keys)));
  const waiting = backlogs.then((each) => each.reduce((sum, { count }) => sum + count, 0));
  // That Redis is away is told for itself.
  return state.problem(await waiting.catch(() => undefined));
}
