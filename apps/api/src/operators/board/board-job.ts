import type { JobState, QueueJob } from '@bull-board/api/typings/app';

/** What the board shows as a job. Times are epoch ms. */
export type BoardJob = {
  readonly id: string;
  readonly state: JobState;
  readonly title: string;
  /** Shown as it is: nothing in it may be secret. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly addedAt: number;
  readonly runsAt?: number;
  /** When work on it began; the page counts from then to its end. */
  readonly takenAt?: number;
  readonly endedAt?: number;
  readonly tries: number;
  readonly failure?: string;
  /** One attempt now, instead of what bull-board would do to a job; absent where there is none to be made. */
  readonly attemptNow?: () => Promise<void>;
};

/** A job with what bull-board calls on it, and nothing that would write to a BullMQ job. */
export function toQueueJob({ id, state, title, data, attemptNow = refuse, ...job }: BoardJob): QueueJob {
  // Under both names, or the page takes the time for changed.
  const delay = job.runsAt === undefined ? undefined : Math.max(1, job.runsAt - job.addedAt);
  const opts = delay === undefined ? {} : { delay };
  return {
    opts,
    toJSON: () => ({
      ...{ id, data, opts, name: title, timestamp: job.addedAt, progress: 0, returnvalue: null, stacktrace: [] },
      attemptsMade: job.tries,
      failedReason: job.failure ?? '',
      ...(delay !== undefined && { delay }),
      ...(job.takenAt !== undefined && { processedOn: job.takenAt }),
      ...(job.endedAt !== undefined && { finishedOn: job.endedAt }),
    }),
    getState: () => Promise.resolve(state),
    promote: attemptNow,
    retry: attemptNow,
    remove: refuse,
  };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('the board offers no such action on a job, and should have refused it'));
}
