import type { IQueueBackend, KeysMap } from 'bullmq';
import { EventEmitter } from 'node:events';
import { UnsupportedError } from './unsupported-error.ts';

/** What the backend of a worker does, and only that. */
export type WorkerPart =
  | 'moveToActive'
  | 'moveToCompleted'
  | 'moveToFailed'
  | 'moveToDelayed'
  | 'moveJobFromActiveToWait'
  | 'moveStalledJobsToWait'
  | 'extendLock'
  | 'extendLocks'
  | 'waitForJob'
  | 'maximumBlockTimeout'
  | 'disconnectBlocking'
  | 'reconnectBlocking';

/** What the backend of a board does, and only that. */
export type BoardPart =
  | 'getState'
  | 'isMaxed'
  | 'isJobInState'
  | 'getJobData'
  | 'getJobLogs'
  | 'getCounts'
  | 'getRanges'
  | 'retryFinishedJob'
  | 'promote'
  | 'getQueueMetaField'
  | 'getQueueMetaFields'
  | 'getQueueMeta'
  | 'hasQueueMetaField';

/** What both do, each in its way. */
type Shared = 'pause' | 'close' | 'closing';

/** @param what after "this queue has no" */
export function refuse(what: string): Promise<never> {
  return Promise.reject(new UnsupportedError(what));
}

/** All of BullMQ's contract that no backend of this queue has, or that is the same for each. The compiler checks that nothing is missing. */
export class UnsupportedBackend
  extends EventEmitter
  implements Omit<IQueueBackend, WorkerPart | BoardPart | Shared | 'on' | 'once' | 'removeListener'>
{
  readonly qualifiedName: string;
  /** Its keys are no business of BullMQ's. */
  readonly keys: KeysMap = {};
  /** In seconds. */
  readonly minimumBlockTimeout = 0.002;

  constructor(name: string) {
    super();
    this.qualifiedName = name;
  }

  // The connections are the caller's.
  waitUntilReady(): Promise<void> {
    return Promise.resolve();
  }
  disconnect(): Promise<void> {
    return Promise.resolve();
  }
  setName(): Promise<void> {
    return Promise.resolve();
  }
  clientName(): string {
    return this.qualifiedName;
  }
  getClientList(): Promise<string[]> {
    return Promise.resolve([]);
  }
  toKey(type: string): string {
    return `${this.qualifiedName}${type}`;
  }

  // There is none of these, which is an answer.
  getRateLimitTtl(): Promise<number> {
    return Promise.resolve(0);
  }
  isJobScheduler(): Promise<boolean> {
    return Promise.resolve(false);
  }
  getJobSchedulersCount(): Promise<number> {
    return Promise.resolve(0);
  }
  getJobSchedulersRange(): Promise<string[]> {
    return Promise.resolve([]);
  }

  parseNodeKey(): never {
    throw new UnsupportedError('flows');
  }
  forQueue(): never {
    throw new UnsupportedError('flows');
  }
  addFlow(): Promise<never> {
    return refuse('flows');
  }
  moveToWaitingChildren(): Promise<never> {
    return refuse('flows');
  }
  removeUnprocessedChildren(): Promise<never> {
    return refuse('flows');
  }
  removeChildDependency(): Promise<never> {
    return refuse('flows');
  }
  getDependencyCounts(): Promise<never> {
    return refuse('flows');
  }
  getDependencies(): Promise<never> {
    return refuse('flows');
  }
  getProcessedChildrenValues(): Promise<never> {
    return refuse('flows');
  }
  getIgnoredChildrenFailures(): Promise<never> {
    return refuse('flows');
  }
  paginate(): Promise<never> {
    return refuse('flows');
  }
  addJobScheduler(): Promise<never> {
    return refuse('job schedulers');
  }
  updateJobSchedulerNextMillis(): Promise<never> {
    return refuse('job schedulers');
  }
  removeJobScheduler(): Promise<never> {
    return refuse('job schedulers');
  }
  getJobScheduler(): Promise<never> {
    return refuse('job schedulers');
  }
  getJobSchedulerData(): Promise<never> {
    return refuse('job schedulers');
  }
  addJob(): Promise<never> {
    return refuse('way to add jobs but the scripts of their owner');
  }
  addJobs(): Promise<never> {
    return refuse('way to add jobs but the scripts of their owner');
  }
  retryFinishedJobs(): Promise<never> {
    return refuse('way to change many jobs at once');
  }
  promoteJobs(): Promise<never> {
    return refuse('way to change many jobs at once');
  }
  drain(): Promise<never> {
    return refuse('way to change many jobs at once');
  }
  cleanJobsByState(): Promise<never> {
    return refuse('way to change many jobs at once');
  }
  obliterate(): Promise<never> {
    return refuse('way to change many jobs at once');
  }
  removeOrphanedJobs(): Promise<never> {
    return refuse('way to change many jobs at once');
  }
  updateData(): Promise<never> {
    return refuse('data of jobs that BullMQ may change');
  }
  updateProgress(): Promise<never> {
    return refuse('data of jobs that BullMQ may change');
  }
  addLog(): Promise<never> {
    return refuse('data of jobs that BullMQ may change');
  }
  clearLogs(): Promise<never> {
    return refuse('data of jobs that BullMQ may change');
  }
  changeDelay(): Promise<never> {
    return refuse('data of jobs that BullMQ may change');
  }
  changePriority(): Promise<never> {
    return refuse('priorities but the classes of jobs');
  }
  removeDeduplicationKey(): Promise<never> {
    return refuse('deduplication but the ids of jobs');
  }
  deleteDeduplicationKey(): Promise<never> {
    return refuse('deduplication but the ids of jobs');
  }
  getDeduplicationJobId(): Promise<never> {
    return refuse('deduplication but the ids of jobs');
  }
  setRateLimit(): Promise<never> {
    return refuse('rate limit of its own');
  }
  removeRateLimitKey(): Promise<never> {
    return refuse('rate limit of its own');
  }
  removeDeprecatedPriorityKey(): Promise<never> {
    return refuse('priorities but the classes of jobs');
  }
  getCountsPerPriority(): Promise<never> {
    return refuse('priorities but the classes of jobs');
  }
  trimEvents(): Promise<never> {
    return refuse('stream of events');
  }
  publishEvent(): Promise<never> {
    return refuse('stream of events');
  }
  readEvents(): Promise<never> {
    return refuse('stream of events');
  }
  getMetrics(): Promise<never> {
    return refuse('counters but those of its owner');
  }
  isFinished(): Promise<never> {
    return refuse('results of jobs');
  }
  retryJob(): Promise<never> {
    return refuse('retries but those that the scripts of its owner enqueue');
  }
  remove(): Promise<never> {
    return refuse('way to remove jobs but the scripts of their owner');
  }
  setQueueMeta(): Promise<never> {
    return refuse('settings but its pause');
  }
  removeQueueMetaFields(): Promise<never> {
    return refuse('settings but its pause');
  }
}
