import type { Finding } from '@herald/runtime/findings/finding';
import { readSettledBacklog } from '@herald/store/lists/history-mark';
import type { Keyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { HistoryState } from './history-state.ts';

export type FindHistoryProblemsDeps = {
  readonly state: Pick<HistoryState, 'problems'>;
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
};

/** What is wrong with the history, and how many deliveries wait for it in all shards. Asks Redis only then. */
export async function findHistoryProblems(deps: FindHistoryProblemsDeps): Promise<readonly Finding[]> {
  const { state, redis, keyspace } = deps;
  if (state.problems().length === 0) return [];
  const backlogs = Promise.all(keyspace.shards.map((keys) => readSettledBacklog(redis, keys)));
  const waiting = backlogs.then((each) => each.reduce((sum, { count }) => sum + count, 0));
  // That Redis is away is told for itself.
  return state.problems(await waiting.catch(() => undefined));
}
