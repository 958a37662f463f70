import { isNotConnectionError, type IQueueBackend, type KeepJobs, type MinimalJob } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createQueueKeys } from './queue-keys.ts';
import type { DefineScript } from './script.ts';
import { createFinishScript, EXTEND_LEASES_LUA, PUT_BACK_LUA, RECOVER_LUA } from './scripts/end-scripts.ts';
import { createPause } from './scripts/pause-script.ts';
import type { WaitConnection } from './wait-connection.ts';
import { toJobJson } from './worker/job-json.ts';
import { createReserve, type ReadRows, type Reserved } from './worker/reserve.ts';
import { createReservations, type Held, type Reservations } from './worker/reservations.ts';
import { createSlots, EXPRESS_SLOTS, type JobEnd, type Slots } from './worker/slots.ts';
import { WorkerOnlyBackend } from './worker/worker-only-backend.ts';

export type GroupBackendOptions = {
  /** Of all keys of the queue. Carries a hash tag, such as `{a}:`. */
  readonly prefix: string;
  /** On a connection that is used for nothing that blocks. */
  readonly defineScript: DefineScript;
  readonly waitConnection: WaitConnection;
  /** Jobs in work that this worker is meant for. Suspect groups get at most half of it. */
  readonly concurrency: number;
  /** Jobs in work that a group may have, over all workers. */
  readonly groupLimit: number;
  /** How long a worker that dies keeps its jobs, in ms. */
  readonly leaseMs: number;
  /** The longest that a command may block, in ms. */
  readonly blockLimitMs: number;
  /** See `createReserveScript` and `createFinishScript`: what is known of jobs is the caller's. */
  readonly loadLua: string;
  /** Default: rows stay as they came. */
  readonly readRows?: ReadRows;
  /** How long a job waits whose processor threw so many times in a row, in ms. */
  readonly errorDelayMs: (errors: number) => number;
  /** The time that all processes share, epoch ms: Redis' own. */
  readonly now: () => number;
};

/** Leases that one script ends at most: Redis does nothing else meanwhile. */
const MOST_RECOVERED = 200;

const ERRORS_REMEMBERED = 10_000;

const readNothing: ReadRows = (rows) => rows.map(({ row }) => row);

const Ids = z.array(z.string());
const Flags = z.array(z.number());

/**
 * A BullMQ backend whose jobs stand in groups. It is what `new Worker(name, processor, options, () => backend)` works on; jobs are added and ended by the
 * caller's own scripts, which use ENQUEUE_LUA and LEASE_LUA, so that a job is in the queue in the same step in which it is decided on.
 */
export class GroupBackend extends WorkerOnlyBackend implements IQueueBackend {
  readonly #options: GroupBackendOptions;
  readonly #keys;
  readonly #slots: Slots;
  readonly #reservations: Reservations;
  readonly #scripts;
  readonly #pause;
  /** Jobs in work, by the token under which BullMQ fetched each. */
  readonly #held = new Map<string, Held>();
  /** How often a job's processor threw in a row, by the job's id. */
  readonly #errors = new Map<string, number>();
  #isDisconnected = false;
  #closing: Promise<void> | undefined;

  constructor(options: GroupBackendOptions) {
    super(options.prefix);
    const { prefix, defineScript, waitConnection, concurrency, groupLimit, leaseMs, loadLua, now } = options;
    this.#options = options;
    this.#keys = createQueueKeys(prefix);
    this.#slots = createSlots({ concurrency, now: () => performance.now() });
    this.#scripts = {
      putBack: defineScript('queuePutBack', PUT_BACK_LUA),
      finish: defineScript('queueFinish', createFinishScript(loadLua)),
      extend: defineScript('queueExtend', EXTEND_LEASES_LUA),
      recover: defineScript('queueRecover', RECOVER_LUA),
    };
    this.#pause = createPause(defineScript, this.#keys);
    this.#reservations = createReservations({
      reserve: createReserve(defineScript, this.#keys, loadLua, options.readRows ?? readNothing),
      slots: this.#slots,
      groupLimit,
      leaseMs,
      waitForRings: async (rings, seconds) =>
        (await waitConnection.bzpopmin(rings.map(this.#keys.wake), seconds)) !== null,
      giveBack: async (jobs) => {
        await this.#putBack(jobs, 0);
      },
      processId: randomBytes(6).toString('base64url'),
      now,
    });
  }

  /** What BullMQ's worker must be given as its concurrency: room for every ring. How much is used is decided here. */
  get workerConcurrency(): number {
    return 2 * this.#options.concurrency + EXPRESS_SLOTS;
  }

  get inWork(): number {
    return this.#slots.inWork();
  }

  /** @param token that BullMQ gives the processor */
  reservationOf(token: string): Reserved {
    const held = this.#held.get(token);
    if (!held) throw new Error('no job is in work under this token');
    return held.reserved;
  }

  /** The processor's own script has ended the job, and its lease with it. */
  ended(token: string, end: JobEnd): void {
    const held = this.#held.get(token);
    if (!held) return;
    this.#held.delete(token);
    if (end !== 'unsent') this.#errors.delete(held.reserved.id);
    this.#reservations.end(held, end);
  }

  /**
   * Lets a job wait again where it stood, and spends nothing.
   * @param dueAt epoch ms; 0: as before
   */
  async putBack(token: string, dueAt: number): Promise<void> {
    const held = this.#held.get(token);
    if (!held) return;
    await this.#putBack([held], dueAt);
    this.ended(token, 'unsent');
  }

  async #putBack(jobs: readonly Held[], dueAt: number): Promise<void> {
    const { now, groupLimit, prefix } = this.#options;
    const leases = jobs.flatMap(({ reserved: { handle, isProbe } }) => [handle, dueAt, isProbe ? 1 : 0]);
    await this.#scripts.putBack([this.#keys.leases], [prefix, now(), groupLimit, ...leases]);
  }

  // What BullMQ's worker calls.

  async moveToActive(token: string): Promise<unknown[]> {
    const held = await this.#reservations.next();
    if (held) return this.#start(held, token);
    const lookAgainAt = this.#reservations.lookAgainAt();
    // BullMQ waits by this machine's clock.
    return [undefined, undefined, 0, lookAgainAt > 0 ? Date.now() + Math.max(1, lookAgainAt - this.#options.now()) : 0];
  }

  #start(held: Held, token: string): unknown[] {
    const { id } = held.reserved;
    this.#held.set(token, held);
    return [toJobJson(id), id, 0, 0];
  }

  async moveToCompleted<T, R, N extends string>(
    _job: MinimalJob<T, R, N>,
    _returnValue: R,
    _remove: boolean | number | KeepJobs,
    token: string,
    fetchNext: boolean,
  ): Promise<{ result: unknown[] | undefined; finishedOn: number }> {
    const held = this.#held.get(token);
    if (held) await this.#finish(held, token);
    return { result: fetchNext ? await this.#startNext(token) : undefined, finishedOn: Date.now() };
  }

  /** A fetch that fails is no fault of the job that has just ended. BullMQ's loop fetches too, and tells of it. */
  async #startNext(token: string): Promise<unknown[] | undefined> {
    const next = await this.#reservations.nextAfterEnd().catch(() => undefined);
    return next && this.#start(next, token);
  }

  async #finish({ reserved: { handle, isProbe } }: Held, token: string): Promise<void> {
    const { prefix, now, groupLimit } = this.#options;
    await this.#scripts.finish([this.#keys.leases], [prefix, now(), groupLimit, handle, isProbe ? 1 : 0]);
    this.ended(token, 'unsent');
  }

  /** The processor threw, which is no fault of the job's: it comes again, later each time. */
  async moveToFailed<T, R, N extends string>(
    job: MinimalJob<T, R, N>,
    _reason: string,
    _remove: boolean | number | KeepJobs,
    token: string,
    fetchNext: boolean,
  ): Promise<{ result: unknown[] | undefined; finishedOn: number }> {
    const { now, errorDelayMs } = this.#options;
    const id = job.id ?? '';
    const errors = (this.#errors.get(id) ?? 0) + 1;
    if (this.#errors.size > ERRORS_REMEMBERED) this.#errors.clear();
    this.#errors.set(id, errors);
    try {
      await this.putBack(token, now() + errorDelayMs(errors));
    } catch (error) {
      // BullMQ comes again only after an error of the connection. Otherwise the slot must not be lost; the lease ends by itself.
      if (!(error instanceof Error) || isNotConnectionError(error)) this.ended(token, 'unsent');
      throw error;
    }
    return { result: fetchNext ? await this.#startNext(token) : undefined, finishedOn: Date.now() };
  }

  async moveToDelayed(_id: string, timestamp: number, delayMs: number, token = ''): Promise<void> {
    await this.putBack(token, timestamp + delayMs - Date.now() + this.#options.now());
  }

  async moveJobFromActiveToWait(_id: string, token = ''): Promise<number> {
    await this.putBack(token, 0);
    return 0;
  }

  async moveStalledJobsToWait(): Promise<string[]> {
    const { prefix, now, groupLimit } = this.#options;
    const all: string[] = [];
    for (;;) {
      const ids = Ids.parse(
        await this.#scripts.recover([this.#keys.leases], [prefix, now(), groupLimit, MOST_RECOVERED]),
      );
      all.push(...ids);
      if (ids.length < MOST_RECOVERED) return all;
    }
  }

  async extendLock(id: string, token: string, durationMs: number): Promise<number> {
    return (await this.extendLocks([id], [token], durationMs)).length === 0 ? 1 : 0;
  }

  async extendLocks(ids: string[], tokens: string[], durationMs: number): Promise<string[]> {
    const handles = tokens.map((token) => this.#held.get(token)?.reserved.handle);
    const known = handles.filter((handle) => handle !== undefined);
    if (known.length === 0) return [];
    const until = this.#options.now() + durationMs;
    const held = Flags.parse(await this.#scripts.extend([this.#keys.leases], [until, ...known]));
    const lost = new Set(known.filter((_, index) => held[index] !== 1));
    return ids.filter((_, index) => lost.has(handles[index] ?? ''));
  }

  async waitForJob(seconds: number): Promise<{ member: string; score: number } | null> {
    const limit = this.#options.blockLimitMs / 1_000;
    return (await this.#reservations.wait(Math.min(seconds, limit))) ? { member: '0', score: 0 } : null;
  }

  get maximumBlockTimeout(): number {
    return this.#options.blockLimitMs / 1_000;
  }

  /** Workers reserve nothing more, but for express groups. */
  async pause(isPaused: boolean): Promise<void> {
    await this.#pause(isPaused);
  }

  async disconnectBlocking(): Promise<void> {
    const given = this.#reservations.stop();
    this.#isDisconnected = true;
    this.#options.waitConnection.disconnect();
    // What can't be given back comes again when its lease ends. BullMQ goes on to wait for the jobs in work.
    await given.catch((error: unknown) => this.emit('error', error));
  }

  /** BullMQ asks for it after every failed wait, too; the connection then restores itself. */
  async reconnectBlocking(): Promise<void> {
    if (!this.#isDisconnected) return;
    await this.#options.waitConnection.connect();
    this.#isDisconnected = false;
    this.#reservations.resume();
  }

  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  close(): Promise<void> {
    this.#closing ??= this.disconnectBlocking();
    return this.#closing;
  }
}
