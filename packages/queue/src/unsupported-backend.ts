import type { IQueueBackend, KeysMap } from 'bullmq';
import { EventEmitter } from 'node:events';
import { UnsupportedError } from './unsupported-error.ts';

/** What a queue has to bring itself. */
export type Supported =
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
  | 'reconnectBlocking'
  | 'pause'
  | 'close'
  | 'closing';

function refuse(what: string): Promise<never> {
  return Promise.reject(new UnsupportedError(what));
}

/** All of BullMQ's contract that this queue doesn't have, or that is the same for every queue. The compiler checks that nothing is missing. */
export class UnsupportedBackend
  extends EventEmitter
  implements Omit<IQueueBackend, Supported | 'on' | 'once' | 'removeListener'>
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
  getJobSchedulersRange(): Promise<never> {
    return refuse('job schedulers');
  }
  addJob(): Promise<never> {
    return refuse('way to add jobs but the scripts of their owner');
  }
  addJobs(): Promise<never> {
    return refuse('way to add jobs but the scripts of their owner');
  }
  retryFinishedJobs(): Promise<never> {
    return refuse('way to end jobs of many at once');
  }
  promoteJobs(): Promise<never> {
    return refuse('way to end jobs of many at once');
  }
  drain(): Promise<never> {
    return refuse('way to end jobs of many at once');
  }
  cleanJobsByState(): Promise<never> {
    return refuse('way to end jobs of many at once');
  }
  obliterate(): Promise<never> {
    return refuse('way to end jobs of many at once');
  }
  removeOrphanedJobs(): Promise<never> {
    return refuse('way to end jobs of many at once');
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
    return refuse('data of jobs that BullMQ may change');
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
    return refuse('rate limit of its own');
  }
  getCountsPerPriority(): Promise<never> {
    return refuse('rate limit of its own');
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
  getState(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  isMaxed(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  isJobInState(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getJobData(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getJobLogs(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getCounts(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getRanges(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  retryJob(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  retryFinishedJob(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  promote(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  remove(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  setQueueMeta(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getQueueMetaField(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getQueueMetaFields(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  getQueueMeta(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  removeQueueMetaFields(): Promise<never> {
    return refuse('view of its jobs yet');
  }
  hasQueueMetaField(): Promise<never> {
    return refuse('view of its jobs yet');
  }
}
