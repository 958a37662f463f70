import { deliveryIdOf, newReceiverId, newTaskId, newTestTransitionId } from '@herald/core';
import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryWriter } from '@herald/history/moving/history-writer';
import { createPartitions } from '@herald/history/partitions/partitions';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { createKeyspace, type ShardKeys } from '@herald/store/keyspace/keys';
import { createMoveStore } from '@herald/store/moving/move-store';
import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { startPostgres } from '@herald/test-kit';
import { moveSettled } from '../../apps/worker/src/moving/move-settled.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { median } from '../statistics.ts';
import { judgeHistory } from '../targets.ts';
import { FILL_DELIVERIES, FIRST_PAGE } from './history-sql.ts';

const FAN_OUT = 10;
const DAY_MS = 86_400_000;
const PAGES = 50;

/** How fast settled deliveries move to PostgreSQL, what they take there, and how fast a page of many is read. */
export const history: Scenario = async ({ options, say }) => {
  const { count, repeats, rows } = options;
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startBenchRedis());
  const postgres = cleanUp.use(await startPostgres({ fsync: true, settings: { shared_buffers: '256MB' } }));
  const pool = createHistoryPool({
    url: postgres.url,
    name: 'bench',
    connections: 4,
    statementLimitMs: 3_600_000,
    onError: () => undefined,
  });
  cleanUp.defer(() => pool.end());
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'bench',
    onError: () => undefined,
  });
  cleanUp.defer(() => closeRedis(redis));
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  await prepareHistory(pool, 'write');
  const partitions = createPartitions(pool);
  const writer = createHistoryWriter({ pool, partitions, keepsBodies: true });
  const moves = createMoveStore({ redis, keys });
  const rounds: { readonly perSecond: number; readonly cpuUs: number }[] = [];
  let written = 0;
  for (let round = 0; round <= repeats; round++) {
    say(round === 0 ? 'history, warming up' : `history, round ${round} of ${repeats}`);
    const deliveries = Math.ceil(count / FAN_OUT) * FAN_OUT;
    await fill(redis, keys, deliveries / FAN_OUT);
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const moved = await moveSettled({
      moves,
      history: writer,
      mover: 'bench',
      retentionMs: 0,
      isStopping: () => false,
      report: { moved: () => undefined, damaged: () => undefined },
      now: () => Date.now(),
    });
    if (moved !== deliveries) throw new Error(`${moved} of ${deliveries} deliveries moved`);
    written += moved;
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (round > 0) rounds.push({ perSecond: moved / seconds, cpuUs: (user + system) / moved });
  }
  const bytes = await measureBytes(pool, written);
  say(`history, first page of a receiver among ${rows} rows`);
  const pageMs = await measurePage(pool, partitions, rows);
  const perSecond = median(rounds.map((round) => round.perSecond));
  const cpuUs = median(rounds.map((round) => round.cpuUs));
  return {
    tables: [
      {
        title: `History: ${count} deliveries a round at fan-out ${FAN_OUT}, median of ${repeats}`,
        columns: ['measured', 'value'],
        rows: [
          ['moved, deliveries/s', perSecond],
          ['CPU of the worker for each, µs', cpuUs],
          ['disk for each, without its body, bytes', bytes],
          [`first page of a receiver among ${rows} rows, slowest of ${PAGES}, ms`, pageMs],
        ],
        notes: ['One mover in this process; PostgreSQL with fsync, Redis and the mover share the machine.'],
      },
    ],
    raw: { rounds, bytes, pageMs },
    targets: judgeHistory({ perSecond, cpuUs, bytes, pageMs }),
  };
};

/** Settled deliveries with one attempt, as a worker leaves them. */
async function fill(redis: RedisClient, keys: ShardKeys, transitions: number): Promise<void> {
  const at = Date.now();
  const endpoints = Array.from({ length: FAN_OUT }, () => newReceiverId(at));
  const attempt = JSON.stringify({ at, durationMs: 12.3, status: 200, answer: 'ok', h: { t: 'text/plain' } });
  const body = `{"id":"trn","event":"task.check_in","created_at":"x","sequence":1,"outcome":"${'o'.repeat(400)}"}`;
  for (let index = 0; index < transitions; index++) {
    const id = newTestTransitionId();
    const task = newTaskId(at);
    const created = String(at + index);
    const fields = { open: 0, ev: 'task.check_in', ws: 'ws_bench', task, at: created, req: 'req_123456789012' };
    const writes: Promise<unknown>[] = [redis.hset(keys.transition(id), { ...fields, eps: endpoints.join(','), body })];
    for (const endpoint of endpoints) {
      const delivery = deliveryIdOf(id, endpoint);
      const record = { x: id, e: endpoint, s: 'delivered', n: 1, at: created, end: created };
      writes.push(
        redis.hset(keys.delivery(delivery), record),
        redis.rpush(keys.attempts(delivery), attempt),
        redis.zadd(keys.endpointLog(endpoint), created, delivery),
        redis.zadd(keys.settled, at - 1, delivery),
      );
    }
    await Promise.all(writes);
  }
}

/** With indexes, and a tenth of the transition without its body. */
async function measureBytes(pool: HistoryPool, deliveries: number): Promise<number> {
  await pool.query('VACUUM ANALYZE herald.deliveries, herald.transitions');
  const { rows } = await pool.query<{ bytes: number }>(`
    SELECT ((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('herald.deliveries') WHERE isleaf)
      + (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('herald.transitions') WHERE isleaf)
      - (SELECT sum(octet_length(body)) FROM herald.transitions))::bigint AS bytes`);
  return (rows[0]?.bytes ?? NaN) / deliveries;
}

async function measurePage(pool: HistoryPool, partitions: ReturnType<typeof createPartitions>, count: number) {
  const today = Math.floor(Date.now() / DAY_MS);
  const days = 30;
  await partitions.ensure(Array.from({ length: days }, (_, index) => today - days + index));
  await pool.query(FILL_DELIVERIES, [count, (today - days) * DAY_MS, days * DAY_MS]);
  await pool.query('VACUUM ANALYZE herald.deliveries');
  const times: number[] = [];
  for (let index = 0; index < PAGES; index++) {
    const startedAt = performance.now();
    const { rowCount } = await pool.query(FIRST_PAGE, [`wh_${String(index % 100).padStart(26, '0')}`, 51]);
    if (rowCount !== 51) throw new Error(`${rowCount ?? 0} rows of 51`);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b).at(-1) ?? NaN;
}
