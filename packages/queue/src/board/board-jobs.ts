/** A job as its owner describes it to a board. All of it is shown: nothing in it may be secret. Times are epoch ms. */
export type BoardJob = {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly addedAt: number;
  /** When it is due; absent once it has ended. */
  readonly dueAt?: number;
  /** When work on it last began, and when it ended; only of one that has ended. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly attemptsMade: number;
  /** What went wrong the last time, also while it is tried again. */
  readonly failedReason?: string;
  /** Groups in which it waits, if it does. */
  readonly groups: readonly string[];
  /** What became of it; what waits or is in work counts first. */
  readonly ended?: 'completed' | 'failed';
};

/** What the owner of the jobs tells a board, and does for it. */
export type BoardJobs = {
  readonly find: (id: string) => Promise<BoardJob | undefined>;
  /** What happened to it, oldest first, a line each. */
  readonly readLogs: (id: string) => Promise<readonly string[]>;
  /** Lets a job that has ended be worked on once more. */
  readonly retry: (id: string) => Promise<void>;
  /** Lets a job be worked on now that waits for its time. */
  readonly promote: (id: string) => Promise<void>;
  readonly failed: {
    readonly count: () => Promise<number>;
    /** Ids, newest first. `end` is one of them. */
    readonly list: (start: number, end: number) => Promise<readonly string[]>;
  };
  /** `CLIENT LIST` of each server that holds the queue. */
  readonly listClients: () => Promise<string[]>;
};
