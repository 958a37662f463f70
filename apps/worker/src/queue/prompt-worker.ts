import { BLOCK_LIMIT_MS, type Clock, type LoadReply, type TakeJobs, type TakenJob } from '@herald/infra';
import { Worker, type Job, type JobJson, type Processor, type WorkerOptions } from 'bullmq';
import { createRedisTimeBackend } from './redis-time-backend.ts';

/** Jobs that one fetch takes at most: Redis does nothing else meanwhile. */
const MOST_JOBS = 10;
/** Fetches under way at once, while each finds as many jobs as it may take. */
const MOST_FETCHES = 4;
/** So many fetches in a row that ended with nothing sooner than Redis can answer: a limited rate, which BullMQ doesn't wait for. */
const EMPTY_FETCHES = 5;
const AT_ONCE_MS = 0.05;
const EMPTY_PAUSE_MS = 100;

/** What a processor returns when its job has left the line already: nothing is left to be ended. */
export const JOB_ENDED = Symbol('the job has ended');

/** BullMQ's own methods return it too, though their types don't say so. */
const NO_JOB = undefined as unknown as Job;

/** What BullMQ's types hide. */
type Inside = { readonly updateDelays: (limitedMs: number, delayedUntil: number) => void };

/** A fetch: how many jobs it may bring, and those that it brought besides the one that BullMQ hands over. */
type Fetch = { room: number; readonly others: Job[] };

/**
 * BullMQ's worker with a loop of its own, which takes several jobs at once, starts each as soon as it has it, and takes more when there is room.
 * BullMQ's loop fetches them one after the other, and starts none before a fetch has found nothing more. All else is BullMQ's: how it waits
 * for jobs, what is limited, paused or delayed, locks and their renewal, stalled jobs, how a job is put back or ends.
 */
export class PromptWorker extends Worker {
  readonly #take: TakeJobs;
  readonly #clock: Clock;
  readonly #fetches = new Map<string, Fetch>();
  readonly #loaded = new WeakMap<Job, LoadReply>();
  /** Jobs in work, and room that fetches under way may need. */
  #taken = 0;
  /** The last take left it to BullMQ: each job that ends may make room for another, and nothing else tells. */
  #isLimited = false;

  constructor(queue: string, processor: Processor, take: TakeJobs, clock: Clock, options: WorkerOptions) {
    const idle = { drainDelay: BLOCK_LIMIT_MS / 1_000, autorun: false };
    super(queue, processor, { ...options, ...idle }, createRedisTimeBackend(clock, BLOCK_LIMIT_MS));
    this.#take = take;
    this.#clock = clock;
    // Not by BullMQ, whose constructor would begin before there is anything of ours.
    this.run().catch((error: unknown) => this.emit('error', error as Error));
  }

  /** The job's delivery, as it was when the job was fetched; undefined when BullMQ fetched it, or it could not be read. */
  loadedOf(job: Job): LoadReply | undefined {
    return this.#loaded.get(job);
  }

  override async run(): Promise<void> {
    if (this.running || this.closing) return;
    this.running = true;
    try {
      await this.startStalledCheckTimer();
      this.lockManager.start();
      this.mainLoopRunning = this.#serve(); // BullMQ's close() waits for it
      await this.mainLoopRunning;
    } finally {
      this.running = false;
    }
  }

  /** Until the worker is closed and what it has fetched is done. */
  async #serve(): Promise<void> {
    const inWork = new Set<Promise<void>>();
    let fetching = 0;
    let fetches = 0;
    let emptyAtOnce = 0;
    /** Fetches in a row that brought as many jobs as they might. */
    let full = 0;
    let changed = Promise.withResolvers<undefined>();

    const start = (job: Job, token: string) => {
      this.#taken++;
      const done = this.#work(job, token).finally(() => {
        this.#taken--;
        inWork.delete(done);
        if (this.#isLimited) full = Math.max(full, 2); // the one fetch waits already, another looks
        changed.resolve(undefined);
      });
      inWork.add(done);
    };
    const fetchOne = async () => {
      const token = `${this.id}:${fetches++}`;
      const fetch: Fetch = { room: 1, others: [] };
      this.#fetches.set(token, fetch);
      this.#taken += fetch.room;
      const askedAt = performance.now();
      const first = await this.#fetch(token);
      this.#fetches.delete(token);
      this.#taken -= fetch.room;
      if (first) {
        const jobs = [first, ...fetch.others];
        full = jobs.length < fetch.room ? 0 : full + 1;
        emptyAtOnce = 0;
        for (const job of jobs) start(job, token);
        return;
      }
      full = 0;
      emptyAtOnce = performance.now() - askedAt < AT_ONCE_MS ? emptyAtOnce + 1 : 0;
      if (emptyAtOnce >= EMPTY_FETCHES) await this.delay(EMPTY_PAUSE_MS);
    };
    while (this.#mayFetch()) {
      // After a fetch that found all there was, one alone, which waits for a job.
      const width = Math.max(1, Math.min(full, MOST_FETCHES));
      changed = Promise.withResolvers();
      while (fetching < width && this.#taken < this.concurrency) {
        fetching++;
        void fetchOne().finally(() => {
          fetching--;
          changed.resolve(undefined);
        });
      }
      await changed.promise;
    }
    while (fetching > 0) {
      changed = Promise.withResolvers();
      await changed.promise;
    }
    await Promise.all(inWork);
  }

  #mayFetch(): boolean {
    return !this.closing && !this.paused;
  }

  /** Waits for a job where none is due. Never rejects. */
  async #fetch(token: string): Promise<Job | undefined> {
    try {
      return await this.getNextJob(token);
    } catch (error) {
      if (!this.#mayFetch()) return undefined;
      this.emit('error', error as Error);
      await this.delay(this.opts.runRetryDelay);
      return undefined;
    }
  }

  /** What a fetch does once there may be a job: BullMQ takes one, this takes as many as there is room for. */
  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    const fetch = this.#fetches.get(token);
    if (!fetch) return await super.moveToActive(token, name);
    const more = Math.max(0, Math.min(MOST_JOBS - 1, this.concurrency - this.#taken));
    fetch.room += more;
    this.#taken += more;
    const now = this.#clock.now();
    const taken = await this.#take({ limit: fetch.room, token, now, lockMs: this.opts.lockDuration ?? 0 });
    this.#isLimited = !taken;
    if (!taken) {
      this.#taken -= more;
      fetch.room -= more;
      return await super.moveToActive(token, name);
    }
    // BullMQ renews locks by this machine's clock.
    const processedOn = now + this.#clock.skewMs();
    for (const job of taken.jobs) fetch.others.push(await this.#toJob(job, token, processedOn));
    if (taken.isEmpty) await this.#noteEmpty(taken.nextAt);
    return fetch.others.shift() ?? NO_JOB;
  }

  async #toJob(taken: TakenJob, token: string, processedOn: number): Promise<Job> {
    const { id, name, loaded } = taken;
    const json: JobJson = {
      ...{ id, name, data: '{}', opts: { jobId: id, attempts: 0 }, progress: 0, delay: 0, priority: 0 },
      ...{ timestamp: taken.addedAt, processedOn, failedReason: '', returnvalue: '' },
      ...{ attemptsStarted: taken.started, attemptsMade: taken.ended, stalledCounter: taken.stalled },
      ...(taken.failure !== undefined && { deferredFailure: taken.failure }),
    };
    const job = await this.nextJobFromJobData(json, id, token);
    if (loaded) this.#loaded.set(job, loaded);
    return job;
  }

  /** The next fetch waits for a job at once, and no longer than until the next delayed one is due; BullMQ looks at this machine's clock. */
  async #noteEmpty(nextAt: number): Promise<void> {
    (this as unknown as Inside).updateDelays(0, nextAt > 0 ? nextAt + this.#clock.skewMs() : 0);
    await this.nextJobFromJobData();
  }

  protected override async handleCompleted(...[result, ...rest]: Parameters<Worker['handleCompleted']>): Promise<Job> {
    if (result === JOB_ENDED) return NO_JOB;
    return await super.handleCompleted(result, ...rest);
  }

  /** Works on a job. Never rejects. */
  async #work(job: Job, token: string): Promise<void> {
    try {
      await this.processJob(job, token, () => false);
    } catch (error) {
      // Its lock ends, and then it is taken up again.
      this.emit('error', error as Error);
    }
  }
}
