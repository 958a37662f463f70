import type { IQueueBackend, KeysMap } from 'bullmq';
import { RINGS, type DefineScript, type QueueKeys } from './queue-keys.ts';

/** BullMQ asked for something that this queue doesn't have, such as flows or job schedulers. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
  constructor(what: string) {
    super(`this queue has no ${what}`);
  }
}

/**
 * Methods of BullMQ's contract that always reject with an `UnsupportedError`.
 * @param what follows "this queue has no"
 */
export function refuse<Name extends keyof IQueueBackend>(what: string, ...names: readonly Name[]) {
  const refused = () => Promise.reject(new UnsupportedError(what));
  return Object.fromEntries(names.map((name) => [name, refused])) as Record<Name, () => Promise<never>>;
}

const refuseFlows = (): never => {
  throw new UnsupportedError('flows');
};

/** The part of BullMQ's contract that is the same for every backend of this queue, most of it refused. */
export function createBackendBase(name: string) {
  const keys: KeysMap = {};
  return {
    qualifiedName: name,
    /** Empty: BullMQ touches no key of this queue itself. */
    keys,
    toKey: (type: string) => name + type,
    /** In seconds. */
    minimumBlockTimeout: 0.002,

    // The caller owns the connections.
    waitUntilReady: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    setName: () => Promise.resolve(),

    // BullMQ asks for these although the queue has none.
    getRateLimitTtl: () => Promise.resolve(0),
    isJobScheduler: () => Promise.resolve(false),
    getJobSchedulersCount: () => Promise.resolve(0),
    getJobSchedulersRange: (): Promise<string[]> => Promise.resolve([]),

    parseNodeKey: refuseFlows,
    forQueue: refuseFlows,
    ...refuse('flows', 'addFlow', 'moveToWaitingChildren', 'removeUnprocessedChildren', 'removeChildDependency'),
    ...refuse('flows', 'getDependencyCounts', 'getDependencies', 'getProcessedChildrenValues'),
    ...refuse('flows', 'getIgnoredChildrenFailures', 'paginate'),
    ...refuse('job schedulers', 'addJobScheduler', 'updateJobSchedulerNextMillis', 'removeJobScheduler'),
    ...refuse('job schedulers', 'getJobScheduler', 'getJobSchedulerData'),
    ...refuse('way to add jobs but the scripts of their owner', 'addJob', 'addJobs'),
    ...refuse('way to remove jobs but the scripts of their owner', 'remove'),
    ...refuse('way to change many jobs at once', 'retryFinishedJobs', 'promoteJobs', 'drain', 'cleanJobsByState'),
    ...refuse('way to change many jobs at once', 'obliterate', 'removeOrphanedJobs'),
    ...refuse(
      'data of jobs that BullMQ may change',
      'updateData',
      'updateProgress',
      'addLog',
      'clearLogs',
      'changeDelay',
    ),
    ...refuse('retries but those that the scripts of its owner enqueue', 'retryJob'),
    ...refuse('results of jobs', 'isFinished'),
    ...refuse('priorities but the classes of jobs', 'changePriority', 'removeDeprecatedPriorityKey'),
    ...refuse('priorities but the classes of jobs', 'getCountsPerPriority'),
    ...refuse('deduplication but the ids of jobs', 'removeDeduplicationKey', 'deleteDeduplicationKey'),
    ...refuse('deduplication but the ids of jobs', 'getDeduplicationJobId'),
    ...refuse('rate limit of its own', 'setRateLimit', 'removeRateLimitKey'),
    ...refuse('stream of events', 'trimEvents', 'publishEvent', 'readEvents'),
    ...refuse('counters but those of its owner', 'getMetrics'),
    ...refuse('settings but its pause', 'setQueueMeta', 'removeQueueMetaFields'),
  };
}

const PAUSE_LUA = /* lua */ `#!lua flags=allow-oom
-- Pauses the queue, except its express groups, or lets it go on and wakes workers for the groups that are ready.
-- KEYS[1] settings (hash)   KEYS[2..5] rings (zset)   KEYS[6..9] their wake marks (zset)
-- ARGV[1] '1' to pause, '0' to go on
-- Returns 1 or 0, without meaning.
if ARGV[1] == '1' then return redis.call('HSET', KEYS[1], 'paused', '1') end
redis.call('HDEL', KEYS[1], 'paused')
for index = 0, 3 do
  if redis.call('EXISTS', KEYS[2 + index]) == 1 then redis.call('ZADD', KEYS[6 + index], 0, '0') end
end
return 1
`;

export function createPause(defineScript: DefineScript, { settings, ready, wake }: QueueKeys) {
  const pause = defineScript('queuePause', PAUSE_LUA);
  const keys = [settings, ...RINGS.map(ready), ...RINGS.map(wake)];
  return async (isPaused: boolean): Promise<void> => {
    await pause(keys, [isPaused ? '1' : '0']);
  };
}
