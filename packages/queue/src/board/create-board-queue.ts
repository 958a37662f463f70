import { Queue, type IQueueBackend, type JobType } from 'bullmq';
import { EventEmitter } from 'node:events';
import { z } from 'zod';
import { createBackendBase, refuse } from '../backend-base.ts';
import { createQueueKeys, RINGS } from '../queue-keys.ts';
import type { QueueAccess } from '../script.ts';
import { createPause } from '../scripts/pause-script.ts';
import { createQueueStateReader } from '../state/queue-state.ts';
import { toBoardJobJson } from './board-job-json.ts';
import type { BoardJobs } from './board-jobs.ts';
import { FIND_JOB_LUA, LIST_JOBS_LUA } from './board-scripts.ts';

export type BoardOptions = QueueAccess & {
  readonly jobs: BoardJobs;
  /** The name of the connections of its workers, by which a board finds them. */
  readonly workerConnection: string;
};

/** Jobs of one state in one page, at most. */
const PAGE_LIMIT = 1_000;
/** States in which this queue can have jobs that a board lists. BullMQ has two names for one of them. */
const LISTED = ['active', 'waiting', 'wait', 'delayed', 'failed'] as const;
/** Refused here: only a worker asks for it. */
const WORK = 'worker on the backend of a board';

const Ids = z.array(z.string());
const Found = z.tuple([z.enum(['active', 'waiting', 'delayed', '']), z.number()]);

/**
 * BullMQ's own `Queue` on the jobs of the groups, for boards: it lists jobs, pauses the queue, and has the jobs' owner
 * retry and promote. It adds and removes nothing. Of very many groups it reads only some.
 * @param name that a board shows
 */
export function createBoardQueue(name: string, options: BoardOptions): Queue {
  // A board only looks, so it must not write settings.
  const queue = new Queue(name, { connection: {}, skipMetasUpdate: true }, (): IQueueBackend => createBackend(options));
  // Boards declare the type with BullMQ's own backend, and work with any.
  return queue as Queue;
}

function createBackend(options: BoardOptions) {
  const { prefix, defineScript, jobs, workerConnection, now } = options;
  const keys = createQueueKeys(prefix);
  const list = defineScript('queueListJobs', LIST_JOBS_LUA);
  const find = defineScript('queueFindJob', FIND_JOB_LUA);
  const readState = createQueueStateReader(options);

  const readMeta = async (field: string) => (field === 'paused' && (await readState()).isPaused ? '1' : null);

  const listIds = async (type: JobType, start: number, end: number): Promise<readonly string[]> => {
    const listed = LISTED.find((state) => state === type);
    if (listed === undefined || end < start) return [];
    if (listed === 'failed') return await jobs.failed.list(start, end);
    const state = listed === 'wait' ? 'waiting' : listed;
    const scriptKeys = [keys.leases, keys.later, ...RINGS.map(keys.ready)];
    return Ids.parse(await list(scriptKeys, [prefix, now(), state, start, end - start + 1]));
  };

  /** Where a job is, and until when its group lets nothing usual through, epoch ms or 0. */
  const look = async (id: string, groups: readonly string[], alsoLeases: boolean) =>
    Found.parse(await find([keys.leases], [prefix, now(), id, alsoLeases ? '1' : '0', ...groups]));

  const getState = async (id: string) => {
    const job = await jobs.find(id);
    const [state] = await look(id, job?.groups ?? [], true);
    return state === '' ? (job?.ended ?? 'unknown') : state;
  };

  return Object.assign(new EventEmitter(), createBackendBase(prefix), {
    closing: undefined,

    async getCounts(types) {
      const [{ waiting, active, delayed }, failed] = await Promise.all([
        readState(),
        types.includes('failed') ? jobs.failed.count() : 0,
      ]);
      const counts: Partial<Record<JobType, number>> = { waiting, wait: waiting, active, delayed, failed };
      return types.map((type) => counts[type] ?? 0);
    },

    getQueueMetaField: readMeta,

    getQueueMetaFields: (fields) => Promise.all(fields.map(readMeta)),

    hasQueueMetaField: async (field) => (await readMeta(field)) !== null,

    getQueueMeta: async (): Promise<Record<string, string>> => ((await readMeta('paused')) ? { paused: '1' } : {}),

    isMaxed: () => Promise.resolve(false),

    /** Workers then reserve nothing more, except jobs of express groups. */
    pause: createPause(defineScript, keys),

    getClientList: jobs.listClients,

    clientName: (suffix = '') => workerConnection + suffix,

    /** Lists jobs in the order in which they go, and failed ones latest first. BullMQ's `asc` changes nothing. */
    getRanges: (types, start = 0, end = -1, asc = false) => {
      const last = end < 0 ? start + PAGE_LIMIT - 1 : Math.min(end, start + PAGE_LIMIT - 1);
      return Promise.all(
        types.map(async (type) => {
          const ids = await listIds(type, start, last);
          // BullMQ reverses the states that its own backend keeps in lists.
          const isList = type === 'active' || type === 'wait' || type === 'waiting';
          return (asc && isList ? ids.toReversed() : ids) as [string];
        }),
      );
    },

    async getJobData(id) {
      const job = await jobs.find(id);
      if (!job) return undefined;
      const own = job.id ?? id;
      const [, pausedUntil] = job.groups.length > 0 ? await look(own, job.groups, false) : ['', 0];
      return toBoardJobJson(own, job, pausedUntil);
    },

    getState,

    isJobInState: async (state, id) => (await getState(id)) === (state === 'wait' ? 'waiting' : state),

    async getJobLogs(id, start, end, asc) {
      const lines = await jobs.readLogs(id);
      const ordered = asc ? lines : lines.toReversed();
      return { logs: ordered.slice(start, end < 0 ? undefined : end + 1), count: lines.length };
    },

    retryFinishedJob: ({ id = '' }) => jobs.retry(id),

    promote: jobs.promote,

    // The caller owns its connection.
    close: () => Promise.resolve(),

    ...refuse(WORK, 'moveToActive', 'moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveJobFromActiveToWait'),
    ...refuse(WORK, 'moveStalledJobsToWait', 'extendLock', 'extendLocks', 'waitForJob'),
    ...refuse(WORK, 'disconnectBlocking', 'reconnectBlocking'),
  } satisfies Partial<IQueueBackend>);
}
