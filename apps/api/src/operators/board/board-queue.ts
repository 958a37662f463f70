import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js';
import type { JobCounts, JobStatus, QueueJob, QueueWorker, Status } from '@bull-board/api/typings/app';
import { toQueueJob, type BoardJob } from './board-job.ts';
import type { BoardAction } from './judge-action.ts';

/** Where the jobs come from that the board shows as a queue's. */
export type BoardSource = {
  readonly states: readonly JobStatus[];
  readonly count: () => Promise<JobCounts>;
  readonly list: (states: readonly JobStatus[], start: number, end: number) => Promise<readonly BoardJob[]>;
  readonly find: (id: string) => Promise<BoardJob | undefined>;
  /** Absent: nothing fetches from it, so there is nothing to pause. */
  readonly line?: {
    readonly isPaused: () => Promise<boolean>;
    readonly pause: () => Promise<void>;
    readonly resume: () => Promise<void>;
    /** Connections of its workers, as Redis lists them. */
    readonly listWorkers: () => Promise<Record<string, string>[]>;
  };
};

export type BoardQueueOptions = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What an operator who may write can do here. */
  readonly actions: readonly BoardAction[];
  readonly canWrite: boolean;
  /** What Redis says of itself. */
  readonly readRedisInfo: () => Promise<string>;
  readonly source: BoardSource;
};

/**
 * A queue as bull-board sees it. Whatever bull-board can do to a queue beyond what `BoardSource` offers is not there at
 * all, so that no mistake about what is read-only can let it through.
 */
export class BoardQueue extends BaseAdapter {
  readonly actions: readonly BoardAction[];
  readonly #name: string;
  readonly #source: BoardSource;
  readonly #readRedisInfo: () => Promise<string>;

  constructor({ name, title, description, actions, canWrite, readRedisInfo, source }: BoardQueueOptions) {
    // As "bull", which has no flows of jobs: bull-board would look for them in queues that are not BullMQ's.
    super('bull', {
      ...{ description, displayName: title, delimiter: '.', readOnlyMode: !canWrite || actions.length === 0 },
      ...{ allowRetries: actions.includes('retry'), allowCompletedRetries: false },
    });
    this.actions = canWrite ? actions : [];
    this.#name = name;
    this.#source = source;
    this.#readRedisInfo = readRedisInfo;
  }

  override getName(): string {
    return this.#name;
  }
  override getStatuses(): Status[] {
    return this.#source.states.length > 1 ? ['latest', ...this.#source.states] : [...this.#source.states];
  }
  override getJobStatuses(): JobStatus[] {
    return [...this.#source.states];
  }
  override getJobCounts(): Promise<JobCounts> {
    return this.#source.count();
  }
  override async getJobs(states: JobStatus[], start = 0, end = 9): Promise<QueueJob[]> {
    const known = states.filter((state) => this.#source.states.includes(state));
    return (await this.#source.list(known, start, end)).map(toQueueJob);
  }
  override async getJob(id: string): Promise<QueueJob | undefined> {
    const job = await this.#source.find(id);
    return job && toQueueJob(job);
  }
  override getRedisInfo(): Promise<string> {
    return this.#readRedisInfo();
  }
  override async getWorkers(): Promise<QueueWorker[] | null> {
    return this.#source.line ? this.normalizeWorkers(await this.#source.line.listWorkers()) : null;
  }
  override async isPaused(): Promise<boolean> {
    return (await this.#source.line?.isPaused()) ?? false;
  }
  /** Also called by "pause all", which passes over what has nothing to pause. */
  override async pause(): Promise<void> {
    await this.#source.line?.pause();
  }
  override async resume(): Promise<void> {
    await this.#source.line?.resume();
  }

  override getJobLogs(): Promise<string[]> {
    return Promise.resolve([]);
  }
  override getMetrics() {
    return Promise.resolve({ meta: { count: 0, prevTS: 0, prevCount: 0 }, data: [], count: 0 });
  }
  override getGlobalConcurrency(): Promise<null> {
    return Promise.resolve(null);
  }
  override getJobSchedulers(): Promise<[]> {
    return Promise.resolve([]);
  }
  override getJobSchedulersCount(): Promise<number> {
    return Promise.resolve(0);
  }

  override addJob = refuse;
  override clean = refuse;
  override empty = refuse;
  override obliterate = refuse;
  override promoteAll = refuse;
  override removeJobScheduler = refuse;
  override updateJobScheduler = refuse;
  override runJobSchedulerNow = refuse;
  override setGlobalConcurrency = refuse;
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('the board offers no such action, and should have refused it'));
}
