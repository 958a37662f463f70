import { Worker, type Job } from 'bullmq';

/** Fetches under way at once, while each finds a job: one round trip after the other would carry a few hundred jobs a second. */
const MOST_FETCHES = 8;
/** So many fetches in a row that ended with nothing sooner than Redis can answer: a limited rate, which BullMQ doesn't wait for. */
const EMPTY_FETCHES = 5;
const AT_ONCE_MS = 0.05;
const EMPTY_PAUSE_MS = 100;

/**
 * BullMQ's worker with a loop of its own, which starts each job as soon as it is fetched and fetches several at once.
 * BullMQ's loop starts none before a fetch has found nothing more: of ten jobs that come at once, the first waits until
 * the other nine are fetched, one after the other. All else is BullMQ's: what a fetch does, locks and their renewal,
 * stalled jobs, how a job ends and brings the next.
 */
export class PromptWorker extends Worker {
  override async run(): Promise<void> {
    if (this.running || this.closing) return;
    this.running = true;
    try {
      await this.startStalledCheckTimer();
      this.lockManager.start();
      this.mainLoopRunning = this.serve(); // BullMQ's close() waits for it
      await this.mainLoopRunning;
    } finally {
      this.running = false;
    }
  }

  /** Until the worker is closed and what it has fetched is done. */
  private async serve(): Promise<void> {
    const inWork = new Set<Promise<void>>();
    let fetching = 0;
    let fetches = 0;
    let emptyAtOnce = 0;
    /** Fetches in a row that found a job. */
    let found = 0;
    let changed = Promise.withResolvers<undefined>();

    const fetchOne = async () => {
      const token = `${this.id}:${fetches++}`;
      const askedAt = performance.now();
      const job = await this.fetch(token);
      if (job) {
        found++;
        emptyAtOnce = 0;
        const done = this.work(job, token).finally(() => {
          inWork.delete(done);
          changed.resolve(undefined);
        });
        inWork.add(done);
        return;
      }
      found = 0;
      emptyAtOnce = performance.now() - askedAt < AT_ONCE_MS ? emptyAtOnce + 1 : 0;
      if (emptyAtOnce >= EMPTY_FETCHES) await this.delay(EMPTY_PAUSE_MS);
    };
    while (this.mayFetch()) {
      // After a fetch that found nothing, one alone, which waits for a job.
      const width = Math.max(1, Math.min(found, MOST_FETCHES));
      changed = Promise.withResolvers();
      while (fetching < width && inWork.size + fetching < this.concurrency) {
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

  private mayFetch(): boolean {
    return !this.closing && !this.paused;
  }

  /** Waits for a job where none is due. Never rejects. */
  private async fetch(token: string): Promise<Job | undefined> {
    try {
      return await this.getNextJob(token);
    } catch (error) {
      if (!this.mayFetch()) return undefined;
      this.emit('error', error as Error);
      await this.delay(this.opts.runRetryDelay);
      return undefined;
    }
  }

  /** Works on a job, then on those that BullMQ hands over when one ends. Never rejects. */
  private async work(first: Job, token: string): Promise<void> {
    try {
      for (let job: Job | undefined = first; job;) job = (await this.processJob(job, token)) ?? undefined;
    } catch (error) {
      // Its lock ends, and then it is taken up again.
      this.emit('error', error as Error);
    }
  }
}
