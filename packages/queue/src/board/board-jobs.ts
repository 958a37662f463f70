/**
 * A job as its owner describes it to a board, which shows all of it: nothing in it may be secret. Times are epoch ms.
 */
export type BoardJob = {
  /** Absent: the one under which it was asked for. */
  readonly id?: string;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly addedAt: number;
  /** When it is due; absent once it has ended. */
  readonly dueAt?: number;
  /** When work on it last began, and when it ended. Both are absent until it has ended. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly attemptsMade: number;
  /** The last error, also while the job is tried again. */
  readonly failedReason?: string;
  /** Groups in which it waits, if it does. */
  readonly groups: readonly string[];
  /** How it ended. A job that waits or is in work is shown as that. */
  readonly ended?: 'completed' | 'failed';
};

/** The functions that the owner of the jobs provides to a board. */
export type BoardJobs = {
  readonly find: (id: string) => Promise<BoardJob | undefined>;
  /** One line for each attempt, oldest first. */
  readonly readLogs: (id: string) => Promise<readonly string[]>;
  /** Lets a job that has ended be worked on once more. */
  readonly retry: (id: string) => Promise<void>;
  /** Lets a job that is not due be worked on now. */
  readonly promote: (id: string) => Promise<void>;
  readonly failed: {
    readonly count: () => Promise<number>;
    /** Ids, newest first, from `start` to `end` inclusive. */
    readonly list: (start: number, end: number) => Promise<readonly string[]>;
  };
  /** `CLIENT LIST` of each server that holds the queue. */
  readonly listClients: () => Promise<string[]>;
};
