import { isNotConnectionError, type IQueueBackend, type JobJson } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createBackendBase, createPause, refuse } from './backend-base.ts';
import { createQueueKeys } from './queue-keys.ts';
import { createLeases, type LeasesOptions } from './worker/leases.ts';
import { createReservations, type Held } from './worker/reservations.ts';
import { createReserve, type ReadRows, type Reserved } from './worker/reserve.ts';
import { createBusyMeter, createSlots, mostInWork, type JobEnd } from './worker/slots.ts';

/** A connection of its own, on which a command may block. */
type WaitConnection = {
  /** BZPOPMIN: the key, the member and its score; null when the time is over. */
  readonly bzpopmin: (keys: string[], seconds: number) => Promise<[string, string, string] | null>;
  /** Ends a blocking command, which then rejects. */
  readonly disconnect: () => void;
  readonly connect: () => Promise<void>;
};

/** The connection for commands that don't block. */
type CommandConnection = { readonly zadd: (key: string, score: number, member: string) => Promise<unknown> };

/** `loadLua` must have the functions of both `createReserveScript` and `createFinishScript`. */
export type GroupBackendOptions = LeasesOptions & {
  readonly waitConnection: WaitConnection;
  readonly commands: CommandConnection;
  /** Jobs of quick groups that this worker has in work at once. See `slotsFor` for the others. */
  readonly concurrency: number;
  /** How long a lease lasts: a worker that dies keeps its jobs for so long, in ms. */
  readonly leaseMs: number;
  /** The longest that a command may block, in ms. */
  readonly blockLimitMs: number;
  /** Default: rows stay as they are. */
  readonly readRows?: ReadRows;
  /** How long a job waits after so many errors of its processor in a row, in ms. */
  readonly errorDelayMs: (errors: number) => number;
};

const ERRORS_REMEMBERED = 10_000;
/** The part of a lease after which it is renewed. BullMQ would do it by the machine's clock, which may be set back. */
const RENEWED_AFTER = 0.25;

/** Refused here: only a board asks for it. */
const VIEW = 'view of its jobs on the backend of a worker';
const RENEWAL = 'renewal of leases by BullMQ: set skipLockRenewal';

const readNothing: ReadRows = (rows) => rows.map(({ row }) => row);

export type GroupBackend = ReturnType<typeof createGroupBackend>;

/**
 * A BullMQ backend whose jobs stand in groups, for `new Worker(name, processor, options, () => backend)`. The owner's
 * scripts add and end the jobs with ENQUEUE_LUA and LEASE_LUA, so that a job enters and leaves the queue in the same
 * step as the decision about it.
 */
export function createGroupBackend(options: GroupBackendOptions) {
  const { prefix, defineScript, waitConnection, commands, groupLimit, leaseMs, loadLua, now } = options;
  const { concurrency, blockLimitMs, readRows = readNothing, errorDelayMs } = options;
  const keys = createQueueKeys(prefix);
  const slots = createSlots({ concurrency, now: () => performance.now(), isBusy: createBusyMeter() });
  const leases = createLeases(options);
  const reservations = createReservations({
    reserve: createReserve(defineScript, keys, loadLua, readRows),
    slots,
    groupLimit,
    leaseMs,
    waitForRings: async (rings, seconds) => (await waitConnection.bzpopmin(rings.map(keys.wake), seconds)) !== null,
    mark: (ring) => commands.zadd(keys.wake(ring), 0, '0'),
    giveBack: (jobs) => leases.putBack(jobs, 0),
    processId: randomBytes(6).toString('base64url'),
    now,
  });
  /** Jobs in work, by the token under which BullMQ fetched each. */
  const held = new Map<string, Held>();
  /** How often a job's processor threw in a row, by the job's id. */
  const errors = new Map<string, number>();
  let isDisconnected = false;

  let renewing: NodeJS.Timeout | undefined;
  let isRenewing = false;

  /** Renews the leases of what is in work for long enough. */
  const renew = async (): Promise<void> => {
    const startedBefore = performance.now() - RENEWED_AFTER * leaseMs;
    const old = [...held].filter(([, { slot }]) => slot.startedAt <= startedBefore);
    if (isRenewing || old.length === 0) return;
    isRenewing = true;
    try {
      const handles = old.map(([, { reserved }]) => reserved.handle);
      const lost = await leases.extend(handles, leaseMs);
      for (const [token, { reserved }] of old) {
        if (held.has(token) && lost.has(reserved.handle))
          backend.emit(
            'error',
            new Error(`the lease of ${reserved.id} was lost: it was canceled, or may be done twice`),
          );
      }
    } catch (error) {
      backend.emit('error', error);
    } finally {
      isRenewing = false;
    }
  };

  const start = (job: Held, token: string): unknown[] => {
    held.set(token, job);
    renewing ??= setInterval(() => void renew(), RENEWED_AFTER * leaseMs).unref();
    return [toJobJson(job.reserved.id), job.reserved.id, 0, 0];
  };

  const end = (token: string, how: JobEnd): void => {
    const job = held.get(token);
    if (!job) return;
    held.delete(token);
    // Most of the job. A Map leaves its former table behind when it grows or shrinks, and V8 may keep that for long.
    job.reserved.loaded = undefined;
    if (held.size === 0) {
      clearInterval(renewing);
      renewing = undefined;
    }
    if (how !== 'unsent') errors.delete(job.reserved.id);
    slots.end(job.slot, how);
  };

  const putBack = async (token: string, dueAt: number): Promise<void> => {
    const job = held.get(token);
    if (!job) return;
    await leases.putBack([job], dueAt);
    end(token, 'unsent');
  };

  /** The answer to BullMQ when a job has ended. If the fetch fails, BullMQ's own loop reports it. */
  const endAndFetch = async (token: string, fetchNext: boolean) => {
    const next = fetchNext ? await reservations.nextAfterEnd().catch(() => undefined) : undefined;
    return { result: next && start(next, token), finishedOn: Date.now() };
  };

  const disconnectBlocking = async (): Promise<void> => {
    const given = reservations.stop();
    isDisconnected = true;
    waitConnection.disconnect();
    // A job that can't be given back comes again when its lease ends. BullMQ goes on to wait for the jobs in work.
    await given.catch((error: unknown) => backend.emit('error', error));
  };

  const own = {
    /**
     * The concurrency to configure BullMQ's worker with: room for every ring. The slots decide how much of it is used.
     */
    workerConcurrency: mostInWork(concurrency),

    inWork: slots.inWork,

    /** @param token that BullMQ gives the processor */
    reservationOf(token: string): Reserved {
      const job = held.get(token);
      if (!job) throw new Error('no job is in work under this token');
      return job.reserved;
    },

    /** Notes that the owner's own script has ended the job and its lease. */
    ended: end,

    /** Renews no lease any more: what is still held has ended, and Redis could not be told. */
    letGo(): void {
      for (const token of held.keys()) end(token, 'unsent');
    },

    /** Reserves nothing until `resume`, and gives back the jobs that were not started. BullMQ must be paused too. */
    hold: reservations.stop,
    resume: reservations.resume,

    /**
     * Lets a job wait again where it stood, and spends nothing.
     * @param dueAt epoch ms; 0: as before
     */
    putBack,
  };

  const backend = Object.assign(new EventEmitter(), createBackendBase(prefix), own, {
    closing: undefined as Promise<void> | undefined,

    async moveToActive(token) {
      const job = await reservations.next();
      if (job) return start(job, token);
      const at = reservations.lookAgainAt();
      // BullMQ waits by this machine's clock.
      return [undefined, undefined, 0, at > 0 ? Date.now() + Math.max(1, at - now()) : 0];
    },

    async moveToCompleted(_job, _value, _remove, token, fetchNext) {
      const job = held.get(token);
      if (job) {
        await leases.finish(job);
        end(token, 'unsent');
      }
      return await endAndFetch(token, fetchNext);
    },

    /** The processor threw, which is not the job's fault: the job comes again, later each time. */
    async moveToFailed({ id = '' }, _reason, _remove, token, fetchNext) {
      const count = (errors.get(id) ?? 0) + 1;
      if (errors.size > ERRORS_REMEMBERED) errors.clear();
      errors.set(id, count);
      try {
        await putBack(token, now() + errorDelayMs(count));
      } catch (error) {
        // BullMQ calls again only after an error of the connection. After any other the slot is freed here, and the
        // lease ends by itself.
        if (!(error instanceof Error) || isNotConnectionError(error)) end(token, 'unsent');
        throw error;
      }
      return await endAndFetch(token, fetchNext);
    },

    moveToDelayed: (_id, timestamp, delayMs, token = '') => putBack(token, timestamp + delayMs - Date.now() + now()),

    async moveJobFromActiveToWait(_id, token = '') {
      await putBack(token, 0);
      return 0;
    },

    moveStalledJobsToWait: leases.recover,

    maximumBlockTimeout: blockLimitMs / 1_000,

    async waitForJob(seconds) {
      return (await reservations.wait(Math.min(seconds, blockLimitMs / 1_000))) ? { member: '0', score: 0 } : null;
    },

    /** Workers then reserve nothing more, except jobs of express groups. */
    pause: createPause(defineScript, keys),

    disconnectBlocking,

    /** BullMQ also asks for it after every failed wait; the connection then restores itself. */
    async reconnectBlocking() {
      if (!isDisconnected) return;
      await waitConnection.connect();
      isDisconnected = false;
      reservations.resume();
    },

    close(): Promise<void> {
      backend.closing ??= disconnectBlocking();
      return backend.closing;
    },

    clientName: () => prefix,
    getClientList: () => Promise.resolve([]),
    ...refuse(RENEWAL, 'extendLock', 'extendLocks'),
    ...refuse(VIEW, 'getState', 'isMaxed', 'isJobInState', 'getJobData', 'getJobLogs', 'getCounts', 'getRanges'),
    ...refuse(VIEW, 'retryFinishedJob', 'promote'),
    ...refuse(VIEW, 'getQueueMeta', 'getQueueMetaField', 'getQueueMetaFields', 'hasQueueMetaField'),
  } satisfies Partial<IQueueBackend>);
  return backend satisfies IQueueBackend;
}

/** A job as BullMQ's worker gets it, without data: the processor asks the backend for the reservation. */
function toJobJson(id: string): JobJson {
  return {
    id,
    name: 'job',
    data: '{}',
    opts: { attempts: 0 },
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 1,
    stalledCounter: 0,
    timestamp: 0,
    // This machine's clock: BullMQ uses it only to renew leases.
    processedOn: Date.now(),
    failedReason: '',
    returnvalue: 'null',
  };
}
