import type { DeliveryId, ListPlace } from '@herald/core';
import { toDeliveryId } from '@herald/history/reading/delivery-row';
import { createHistoryCheck } from '@herald/history/requirements/prepare-history';
import { findRestored } from '@herald/history/requirements/find-restored';
import { TRY_LOCK_FOR_TENDING } from '@herald/history/sql/history-sql';
import { createHistoryMark } from '@herald/store/lists/history-mark';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { findPostgres } from '@herald/test-kit';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { restoreSnapshot, takeSnapshot } from '../../support/redis-snapshot.ts';
import type { Receiver } from '../engine/start-engine.ts';
import { startHistoryEngine, type HistoryEngine } from './start-history-engine.ts';

const START = Date.now() - 3_600_000;
const DATA_ID = 'the-data';

let folder: string;
let engine: HistoryEngine;
let check: ReturnType<typeof createHistoryCheck>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'herald-restoring-'));
  engine = await startHistoryEngine();
  const mark = createHistoryMark({ redis: engine.redis, keyspace: engine.stores.keyspace });
  const readUser = async () => ({ dataId: DATA_ID, historyId: await mark.read() });
  check = createHistoryCheck({ pool: engine.history.pool, use: 'write', readUser, note: mark.note });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** As docs/backups.md says. */
const run = async (program: string, ...args: readonly string[]): Promise<void> => {
  await promisify(execFile)(join(findPostgres() ?? '', program), [...args]);
};
const backUp = (file: string) => run('pg_dump', '--format=custom', `--file=${file}`, engine.history.postgres.url);
const restore = async (file: string) => {
  await run('psql', '--quiet', '--command=DROP SCHEMA herald CASCADE', engine.history.postgres.url);
  await run('pg_restore', '--exit-on-error', `--dbname=${engine.history.postgres.url}`, file);
};

/** As a worker does every 20 s, at this time. */
const look = (now: number) => {
  const records = createShardRecordStore(engine.redis);
  const deps = { pool: engine.history.pool, readSeen: records.readHistorySeen, noteSeen: records.noteHistorySeen };
  return findRestored(deps, now);
};

const rows = async () => {
  const found = await engine.history.rows(
    'SELECT id, status, tries, attempts FROM herald.deliveries ORDER BY created_at',
  );
  return found.map(({ id, status, attempts }) => ({
    id: toDeliveryId(id as Buffer),
    status,
    statuses: (JSON.parse(attempts as string) as { status?: number }[]).map((each) => each.status),
  }));
};

async function list({ workspaceId, id }: Receiver): Promise<DeliveryId[]> {
  const found: DeliveryId[] = [];
  let after: ListPlace | undefined;
  do {
    const page = await engine.log.listByEndpoint(workspaceId, id, {}, 2, after);
    found.push(...page.deliveries.map((delivery) => delivery.id));
    after = page.next;
  } while (after);
  return found;
}

const deliver = (id: DeliveryId, now: number) =>
  engine.record(id, { now, attempt: { at: now, durationMs: 1, status: 200 } });

test('a history that is restored to an earlier moment is told once, lacks what moved since, and goes on with each once', async () => {
  const receiver = await engine.register({ workspaceId: 'ws_older_history' });
  await check.demandUsable();
  const before = await engine.acceptOne(receiver, START);
  await deliver(before, START + 10);
  await engine.move();
  const file = join(folder, 'history.dump');
  await look(START + 20);
  await backUp(file);
  const lost = await engine.acceptOne(receiver, START + 100);
  await deliver(lost, START + 110);
  await engine.move();
  const waiting = await engine.acceptOne(receiver, START + 200);
  await deliver(waiting, START + 210);
  expect(await list(receiver)).toEqual([waiting, lost, before]);
  expect(await look(START + 220)).toBeUndefined();
  await look(START + 230);

  await restore(file);
  check.lookAgain();
  await check.demandUsable();
  expect(await look(START + 240)).toEqual({ older: 'history', from: START + 20, to: START + 230 });
  expect(await look(START + 250)).toBeUndefined();
  expect(await list(receiver)).toEqual([waiting, before]);
  await engine.move();
  expect(await list(receiver)).toEqual([waiting, before]);
  expect((await rows()).map(({ id }) => id)).toEqual([before, waiting]);
  expect(engine.unavailable).toEqual([]);
});

test('a Redis that is restored to an earlier moment is told once, sends again what was pending then, and nothing is in the history twice', async () => {
  await engine.history.pool.query('TRUNCATE herald.deliveries, herald.transitions');
  const receiver = await engine.register({ workspaceId: 'ws_older_redis' });
  await check.demandUsable();
  const settled = await engine.acceptOne(receiver, START);
  await deliver(settled, START + 10);
  const pending = await engine.acceptOne(receiver, START + 100);
  await look(START + 1_000);
  const snapshot = await takeSnapshot(engine.redis);
  await deliver(pending, START + 110);
  const later = await engine.acceptOne(receiver, START + 200);
  await deliver(later, START + 210);
  await engine.move();
  expect(await list(receiver)).toEqual([later, pending, settled]);

  await look(START + 2_000);
  await restoreSnapshot(engine.redis, snapshot);
  check.lookAgain();
  await check.demandUsable();
  expect(await look(START + 3_000)).toEqual({ older: 'redis', from: START + 1_000, to: START + 2_000 });
  expect(await look(START + 4_000)).toBeUndefined();
  // One that waits again is in both, and is shown once, as it is in Redis.
  expect(await list(receiver)).toEqual([later, pending, settled]);
  const [, again] = (await engine.log.listByEndpoint(receiver.workspaceId, receiver.id, {}, 10)).deliveries;
  expect(again).toMatchObject({ id: pending, status: 'pending' });

  await deliver(pending, START + 500_000);
  await engine.move();
  expect(await list(receiver)).toEqual([later, pending, settled]);
  expect(await rows()).toEqual([
    { id: settled, status: 'delivered', statuses: [200] },
    { id: pending, status: 'delivered', statuses: [200] },
    { id: later, status: 'delivered', statuses: [200] },
  ]);
  expect(engine.unavailable).toEqual([]);
});

test('a process that ends between its two notes tells nothing, and neither does a history that was adopted', async () => {
  await look(START + 5_000);
  const records = createShardRecordStore(engine.redis);
  const deps = { pool: engine.history.pool, readSeen: records.readHistorySeen, noteSeen: records.noteHistorySeen };
  const seen = await records.readHistorySeen();
  if (!seen) throw new Error('it was noted just now');
  await records.noteHistorySeen({ ...seen, before: seen.last, last: START + 6_000 });
  expect(await findRestored(deps, START + 7_000)).toBeUndefined();
  await records.noteHistorySeen({ id: 'another', before: START + 90_000, last: START + 99_000 });
  expect(await findRestored(deps, START + 8_000)).toBeUndefined();
  await records.noteHistorySeen({ id: seen.id, before: START + 90_000, last: START + 99_000 });
  // Another worker tends the days.
  const other = await engine.history.pool.connect();
  await other.query(`BEGIN; ${TRY_LOCK_FOR_TENDING}`);
  expect(await findRestored(deps, START + 9_000)).toBeUndefined();
  await other.query('COMMIT');
  other.release();
  expect(await findRestored(deps, START + 9_000)).toMatchObject({ older: 'history', from: START + 8_000 });
});
