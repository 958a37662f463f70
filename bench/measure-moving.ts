import { deliveryIdOf, newReceiverId, newTaskId, newTestTransitionId } from '@herald/core';
import type { HistoryPool } from '@herald/history/pool/create-history-pool';
import { judgeHistoryError } from '@herald/history/errors/history-errors';
import { createHistoryWriter } from '@herald/history/moving/history-writer';
import type { Partitions } from '@herald/history/partitions/partitions';
import { createKeyspace, type ShardKeys } from '@herald/store/keyspace/keys';
import { writeFirstAttempt } from '@herald/store/deliveries/first-attempt';
import { LOG_LUA } from '@herald/store/logs/segment-lua';
import { createMoveStore } from '@herald/store/moving/move-store';
import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/scripts/script';
import { moveSettled } from '../apps/worker/src/moving/move-settled.ts';
import type { ScenarioRun } from './scenario.ts';
import { startBenchRedis } from './start-bench-redis.ts';

export const FAN_OUT = 10;

export type MovingRound = { readonly perSecond: number; readonly cpuUs: number };
export type Moving = { readonly rounds: readonly MovingRound[]; readonly bytes: number };

/** How fast one mover is, in rounds, and what a delivery takes on disk. */
export async function measureMoving(
  pool: HistoryPool,
  partitions: Partitions,
  { options: { count, repeats }, say }: ScenarioRun,
): Promise<Moving> {
  await using server = await startBenchRedis();
  await using cleanUp = new AsyncDisposableStack();
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'bench',
    onError: () => undefined,
  });
  cleanUp.defer(() => closeRedis(redis));
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  const writer = createHistoryWriter({ pool, partitions, keepsBodies: true });
  const moves = createMoveStore({ redis, keys, now: Date.now });
  const rounds: MovingRound[] = [];
  const transitions = Math.ceil(count / FAN_OUT);
  for (let round = 0; round <= repeats; round++) {
    say(round === 0 ? 'history, warming up' : `history, round ${round} of ${repeats}`);
    await fill(redis, keys, transitions);
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const moved = await moveSettled({
      moves,
      history: writer,
      judge: judgeHistoryError,
      mover: 'bench',
      retentionMs: 0,
      isStopping: () => false,
      report: { moved: () => undefined, setAside: () => undefined },
      now: () => Date.now(),
    });
    if (moved !== transitions * FAN_OUT) throw new Error(`${moved} of ${transitions * FAN_OUT} deliveries moved`);
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (round > 0) rounds.push({ perSecond: moved / seconds, cpuUs: (user + system) / moved });
  }
  return { rounds, bytes: await measureBytes(pool, transitions * FAN_OUT * (repeats + 1)) };
}

const LOG_TTL_MS = 5 * 86_400_000;
const APPEND_LUA = `${LOG_LUA} appendToLog(KEYS[1], ARGV[1], { ARGV[2], ARGV[3] })`;

/** Settled deliveries with one attempt, as a worker leaves them. */
async function fill(redis: RedisClient, keys: ShardKeys, transitions: number): Promise<void> {
  const at = Date.now();
  const append = defineScript(redis, APPEND_LUA);
  const endpoints = Array.from({ length: FAN_OUT }, () => newReceiverId(at));
  const attempt = { at, durationMs: 12, status: 200, answer: 'ok', headers: { 'content-type': 'text/plain' } };
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
      const first = writeFirstAttempt(attempt, at + index) ?? [];
      writes.push(
        redis.hset(keys.delivery(delivery), ...Object.entries(record).flat(), ...first),
        append([keys.endpointLog(endpoint)], [LOG_TTL_MS, created, delivery]),
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
