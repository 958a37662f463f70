import type { IQueueBackend, JobJson, JobState, JobType, MinimalJob } from 'bullmq';
import { z } from 'zod';
import { createQueueKeys, RINGS } from '../queue-keys.ts';
import { createPause } from '../scripts/pause-script.ts';
import { createQueueStateReader, type StateDeps } from '../state/queue-state.ts';
import { toBoardJobJson } from './board-job-json.ts';
import type { BoardJobs } from './board-jobs.ts';
import { BoardOnlyBackend } from './board-only-backend.ts';
import { FIND_JOB_LUA, LIST_JOBS_LUA } from './board-scripts.ts';

export type BoardBackendOptions = StateDeps & {
  readonly jobs: BoardJobs;
  /** The name of the connections of its workers, by which a board finds them. */
  readonly workerConnection: string;
};

/** Jobs of one state in one page, at most. */
const PAGE_LIMIT = 1_000;
/** States in which this queue can have jobs that a board lists. BullMQ has two names for one of them. */
const LISTED = ['active', 'waiting', 'wait', 'delayed', 'failed'] as const;

const Ids = z.array(z.string());
const Found = z.tuple([z.enum(['active', 'waiting', 'delayed', '']), z.number()]);

/**
 * A BullMQ backend for those who look: `new Queue(name, options, () => backend)` shows the jobs of the groups, pauses the queue, and has their
 * owner retry and promote. It adds and removes nothing. Of very many groups some are not looked at.
 */
export class BoardBackend extends BoardOnlyBackend implements IQueueBackend {
  readonly closing: Promise<void> | undefined;
  readonly #options: BoardBackendOptions;
  readonly #keys;
  readonly #list;
  readonly #find;
  readonly #pause;
  readonly #readState;

  constructor(options: BoardBackendOptions) {
    super(options.prefix);
    this.#options = options;
    this.#keys = createQueueKeys(options.prefix);
    this.#list = options.defineScript('queueListJobs', LIST_JOBS_LUA);
    this.#find = options.defineScript('queueFindJob', FIND_JOB_LUA);
    this.#pause = createPause(options.defineScript, this.#keys);
    this.#readState = createQueueStateReader(options);
  }

  // What the queue is.

  async getCounts(types: JobType[]): Promise<number[]> {
    const [{ waiting, active, delayed }, failed] = await Promise.all([
      this.#readState(),
      types.includes('failed') ? this.#options.jobs.failed.count() : 0,
    ]);
    const counts: Partial<Record<JobType, number>> = { waiting, wait: waiting, active, delayed, failed };
    return types.map((type) => counts[type] ?? 0);
  }

  async hasQueueMetaField(field: string): Promise<boolean> {
    return field === 'paused' && (await this.#readState()).isPaused;
  }

  async getQueueMetaField(field: string): Promise<string | null> {
    return (await this.hasQueueMetaField(field)) ? '1' : null;
  }

  async getQueueMetaFields(fields: string[]): Promise<(string | null)[]> {
    return await Promise.all(fields.map((field) => this.getQueueMetaField(field)));
  }

  async getQueueMeta(): Promise<Record<string, string>> {
    return (await this.hasQueueMetaField('paused')) ? { paused: '1' } : {};
  }

  isMaxed(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Workers reserve nothing more, but for express groups. */
  async pause(isPaused: boolean): Promise<void> {
    await this.#pause(isPaused);
  }

  override getClientList(): Promise<string[]> {
    return this.#options.jobs.listClients();
  }

  override clientName(suffix = ''): string {
    return this.#options.workerConnection + suffix;
  }

  // Its jobs.

  /** Each state's jobs in the order in which they go, of those that failed the latest first; BullMQ's `asc` changes nothing. */
  async getRanges(types: JobType[], start = 0, end = -1, asc = false): Promise<[string][]> {
    const last = end < 0 ? start + PAGE_LIMIT - 1 : Math.min(end, start + PAGE_LIMIT - 1);
    return await Promise.all(
      types.map(async (type) => {
        const ids = await this.#listIds(type, start, last);
        // BullMQ turns round what it takes for lists.
        const isList = type === 'active' || type === 'wait' || type === 'waiting';
        return (asc && isList ? ids.toReversed() : ids) as [string];
      }),
    );
  }

  async #listIds(type: JobType, start: number, end: number): Promise<readonly string[]> {
    const listed = LISTED.find((state) => state === type);
    if (listed === undefined || end < start) return [];
    if (listed === 'failed') return await this.#options.jobs.failed.list(start, end);
    const { leases, later, ready, prefix } = this.#keys;
    const state = listed === 'wait' ? 'waiting' : listed;
    return Ids.parse(
      await this.#list(
        [leases, later, ...RINGS.map(ready)],
        [prefix, this.#options.now(), state, start, end - start + 1],
      ),
    );
  }

  async getJobData(id: string): Promise<JobJson | undefined> {
    const job = await this.#options.jobs.find(id);
    if (!job) return undefined;
    const [, pausedUntil] = job.groups.length > 0 ? await this.#look(id, job.groups, false) : ['', 0];
    return toBoardJobJson(id, job, pausedUntil);
  }

  async getState(id: string): Promise<JobState | 'unknown'> {
    const job = await this.#options.jobs.find(id);
    const [state] = await this.#look(id, job?.groups ?? [], true);
    return state === '' ? (job?.ended ?? 'unknown') : state;
  }

  async #look(id: string, groups: readonly string[], alsoLeases: boolean): Promise<z.infer<typeof Found>> {
    const { leases, prefix } = this.#keys;
    const args = [prefix, this.#options.now(), id, alsoLeases ? '1' : '0', ...groups];
    return Found.parse(await this.#find([leases], args));
  }

  async isJobInState(state: string, id: string): Promise<boolean> {
    return (await this.getState(id)) === (state === 'wait' ? 'waiting' : state);
  }

  async getJobLogs(id: string, start: number, end: number, asc: boolean): Promise<{ logs: string[]; count: number }> {
    const lines = await this.#options.jobs.readLogs(id);
    const ordered = asc ? lines : lines.toReversed();
    return { logs: ordered.slice(start, end < 0 ? undefined : end + 1), count: lines.length };
  }

  async retryFinishedJob<T, R, N extends string>({ id = '' }: MinimalJob<T, R, N>): Promise<void> {
    await this.#options.jobs.retry(id);
  }

  async promote(id: string): Promise<void> {
    await this.#options.jobs.promote(id);
  }

  /** Its connection is the caller's. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
