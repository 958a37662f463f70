import type { RedisClient } from '@herald/store/redis/connect-redis';
import { waitFor, type Receiver, type Respond } from '@herald/test-kit';
import { readPendingWork, shardKeys } from '../../support/delivery-state.ts';
import { checkpoint, START } from '../../support/reports.ts';
import type { Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { listKeys } from '../../support/start-topology.ts';

/** Transitions that one batch may report. */
const BATCH = 500;

/** Reports so many transitions of one new Task, in batches; returns their ids, in order. */
export async function emitMany(herald: Herald, workspace: WorkspaceClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let first = 0; first < count; first += BATCH) {
    const { id: taskId } = await workspace.createTask();
    await herald.executor.report(taskId, START);
    const size = Math.min(BATCH, count - first);
    const reports = Array.from({ length: size }, (_, index) => ({ taskId, ...checkpoint(`c${first + index}`) }));
    for (const result of await herald.executor.reportBatch(reports)) {
      if (!('transitionId' in result)) throw new Error(`a checkpoint was refused: ${JSON.stringify(result)}`);
      ids.push(result.transitionId);
    }
  }
  return ids;
}

/** Holds the answers of a receiver from `begin` to `end`. */
export function createHold() {
  let held = 0;
  let ended = Promise.withResolvers<undefined>();
  ended.resolve(undefined);
  return {
    held: () => held,
    async pass(): Promise<void> {
      held++;
      await ended.promise;
      held--;
    },
    begin: () => {
      ended = Promise.withResolvers();
    },
    end: () => {
      ended.resolve(undefined);
    },
  };
}
export type Hold = ReturnType<typeof createHold>;

/** What a receiver answers, to be changed while it runs, and what it has answered so far. */
export function createMood(first: Awaited<ReturnType<Respond>>) {
  let mood = first;
  /** Delivery id → how often it was answered with 200. */
  const accepted = new Map<string, number>();
  const respond: Respond = ({ headers }) => {
    const status = typeof mood === 'object' ? mood.status : mood;
    const id = headers['x-service-delivery'] ?? '';
    if (status === 200) accepted.set(id, (accepted.get(id) ?? 0) + 1);
    return mood;
  };
  return {
    respond,
    accepted,
    set: (next: typeof first) => {
      mood = next;
    },
    /** Ids that were accepted more than once. */
    repeated: () => [...accepted].filter(([, count]) => count > 1).map(([id]) => id),
    waitForAccepted: (count: number, deadlineMs: number) =>
      waitFor(`${count} deliveries to be accepted`, () => ({ accepted: accepted.size }), {
        until: (seen) => seen.accepted >= count,
        deadlineMs,
      }),
  };
}

/** How long each request took to come, from the `created_at` of its transition, in ms; sorted. */
export function latenessAt({ requests }: Pick<Receiver, 'requests'>): number[] {
  return requests
    .map(({ receivedAt, rawBody }) => {
      const { created_at: createdAt } = JSON.parse(rawBody.toString()) as { created_at: string };
      return receivedAt - Date.parse(createdAt);
    })
    .sort((a, b) => a - b);
}

/** A fleet that works logs no internal error, however its receivers behave. */
export function expectNoInternalErrors(herald: Herald): void {
  const errors = herald
    .logs()
    .split('\n')
    .filter((line) => /delivery\.internal_error|maintenance\.failed|queue\.error|body_lost/.test(line));
  expect(errors).toEqual([]);
}

/**
 * Waits until nothing is left to do anywhere, then looks at every record there is: none is pending, none owes anything,
 * no transition counts anything open, and no group anything in work. What a killed worker had is left for as long as its
 * lease (20 s), a round of recovery and a send.
 */
export async function expectNothingLeft(redis: RedisClient, deadlineMs = 45_000): Promise<void> {
  const { replays, purge, prefix, queue } = shardKeys();
  const read = async () => ({
    ...(await readPendingWork(redis)),
    replays: await redis.zcard(replays),
    purges: await redis.zcard(purge),
    waiting: (await listKeys(redis, `${prefix}q:*`)).length,
  });
  await waitFor('nothing to be left', read, {
    until: (left) => Object.values(left).every((count) => count === 0),
    deadlineMs,
  });
  const records = (await listKeys(redis, `${prefix}dlv_*`)).filter((key) => !key.endsWith(':a'));
  const unfinished = [];
  for (const key of records) {
    const [status, owed] = await redis.hmget(key, 's', 'owe');
    if (status === 'pending' || owed !== null) unfinished.push({ key, status, owed });
  }
  expect(unfinished).toEqual([]);
  const groups = await listKeys(redis, `${prefix}g:*`);
  const inWork = await Promise.all(groups.map(async (key) => Number(await redis.hget(key, 'n'))));
  expect(new Set(inWork)).toEqual(new Set([0]));
  expect(Number(await redis.hget(queue.settings, 'n'))).toBe(0);
  const counts = await Promise.all((await listKeys(redis, `${prefix}trn_*`)).map((key) => redis.hget(key, 'open')));
  expect(new Set(counts)).toEqual(new Set(['0']));
}
