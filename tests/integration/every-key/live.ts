import {
  deliveryIdOf,
  newTestTransitionId,
  PLATFORM,
  type DeliveryId,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createHistoryMark } from '@herald/store/lists/history-mark';
import { createRedisProbe, createUntrustedProxyMark } from '@herald/store/operators/create-readiness';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { SEGMENT_ENTRIES } from '@herald/store/keys/segment-lua';
import { createLossMark } from '@herald/store/data/data-loss';
import { createProcessPresence } from '@herald/store/data/find-running';
import { takeUpgradeLease } from '@herald/store/data/take-over-data';
import { appendToLog, logEntriesFrom } from '../../support/append-to-log.ts';
import { buildTask } from '../../support/start-stores.ts';
import { LIMIT, type Engine } from '../engine/start-engine.ts';
import { SCENES } from '../every-script/scenes.ts';
import { createStage, type Stage } from '../every-script/stage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Its bindings stay, in one list. */
const BINDER = 'ws_binder';

/** Without a worker, what is to be done waits for so long. */
const WEEKEND_MS = 3 * DAY_MS;

/**
 * Does everything that writes a key, at a time, and then, after a weekend without a worker, everything that was left to
 * do.
 * @param look called after each thing that was done
 */
export async function live(engine: Engine, hasHistory: boolean, now: number, look: () => Promise<void>): Promise<void> {
  const stage = createStage(engine, hasHistory, now);
  if (hasHistory) await createHistoryMark({ redis: engine.redis, keyspace: engine.stores.keyspace }).note('a history');
  // While all data moves, nothing else is done.
  const scenes = SCENES.filter((each) => (hasHistory || !each.hasHistory) && !each.isOfAMove);
  for (const scene of scenes) {
    // A few seconds pass in between.
    await engine.redis.del(engine.keys.mover);
    const act = await scene.arrange(stage);
    await look();
    await act(stage.first);
    await look();
  }
  await liveOutsideScripts(stage, look);
  await look();
  await expire(engine.redis, WEEKEND_MS);
  await finishAll(engine, stage, now + WEEKEND_MS, hasHistory);
  await look();
}

/** Lets all expire that has so long to live at most, in ms. Returns the names of the others that expire. */
export async function expire(redis: RedisClient, withinMs: number): Promise<string[]> {
  const names = await redis.keys('*');
  const ttls = await Promise.all(names.map((name) => redis.pttl(name)));
  const ttlOf = new Map(names.map((name, index) => [name, ttls[index] ?? -1]));
  await Promise.all(names.filter((name) => isWithin(ttlOf.get(name), 0, withinMs)).map((name) => redis.del(name)));
  return names.filter((name) => isWithin(ttlOf.get(name), withinMs, Infinity));
}

function isWithin(ttlMs = -1, from: number, to: number): boolean {
  return ttlMs >= from && ttlMs < to;
}

/** What is written without a script, and what takes much to come about. */
async function liveOutsideScripts(stage: Stage, look: () => Promise<void>): Promise<void> {
  const { redis, keys, first, fill, createTask, commit, now } = stage;
  const { workspaceId, plain } = await fill();
  // A Task that nobody ever starts.
  await first.tasks.create(buildTask(workspaceId, { createdAt: now, status: 'queued' }));
  const { task } = await createTask(workspaceId);
  await commit(first, task, [], { status: 'canceled', sequence: 1 }, 'canceled');
  for (const log of [keys.endpointLog(plain.id), keys.endedLog(keys.endpointLog(plain.id), 'failed')]) {
    await appendToLog(redis, log, DAY_MS, logEntriesFrom(now, 2 * SEGMENT_ENTRIES));
  }
  await createWorkerPresence(redis).show('worker', now);
  await createProcessPresence(redis, () => now).show('worker', 'worker');
  await createLossMark(redis).set();
  await createUntrustedProxyMark(redis).set();
  await createRedisProbe(redis)();
  const lease = await takeUpgradeLease(redis);
  await look();
  await lease?.release();
  const transitionId = newTestTransitionId();
  const deliveryId = deliveryIdOf(transitionId, plain.id);
  const ids = { transitionId, deliveryId, endpointId: plain.id, workspaceId };
  await first.testEvents.create({ ...ids, body: '{}', createdAt: now });
  await first.deliveries.giveUp(deliveryId, now);
  await first.bindings.bind(BINDER, 'ws_bound');
  await first.portalLinks.create({ workspaceId, readOnly: true, lifeMs: HOUR_MS, madeBy: { operator: 'ada' } });
}

/** As workers do: ends what is to be purged and replayed, sends all that waits, and moves what has settled. */
async function finishAll(engine: Engine, stage: Stage, at: number, hasHistory: boolean): Promise<void> {
  const { first, reserveRequest, toHeld } = stage;
  const { worker } = engine;
  await first.pause(false);
  for (const { workspaceId, id } of await findPaused(engine)) await first.receivers.resume(workspaceId, id, at);
  for (const id of (await worker.purges.claim(at, at, 1_000)).ids) {
    for await (const purged of worker.purges.purge(id, () => at)) void purged;
  }
  // These steps know of no history, and no worker like that takes a replay of data that has one.
  const replays = hasHistory
    ? await engine.redis.zrange(engine.keys.replays, 0, '-1')
    : await worker.steps.claim(at, at, 1_000);
  for (const id of replays) {
    while ((await worker.steps.step(id, at)).kind !== 'ended');
  }
  let now = at;
  for (let idle = 0; idle < 12; now += 6 * HOUR_MS) {
    await worker.recover(now);
    const { jobs } = await first.reserve(reserveRequest(now, `drain${now}`));
    idle = jobs.length > 0 ? 0 : idle + 1;
    for (const { id, handle, isProbe } of jobs) {
      const isSent = await send(engine, id, handle, isProbe, now);
      const held = jobs.find((job) => job.handle === handle);
      if (!isSent && held) await first.leases.finish(toHeld(held));
    }
  }
  if (!hasHistory) return;
  await engine.redis.del(engine.keys.mover);
  for (;;) {
    const batch = await worker.moves.take('mover', Number.MAX_SAFE_INTEGER, 100);
    if (!batch || batch.looked === 0) return;
    await worker.moves.forget(batch);
  }
}

/** The receivers that an operator has paused: what waits for them waits until he lets it go. */
async function findPaused({ redis, keys }: Engine): Promise<readonly { workspaceId: WorkspaceId; id: EndpointId }[]> {
  const prefix = keys.endpoint('');
  const names = (await redis.keys(`${prefix}*`)).filter((name) => !name.slice(prefix.length).includes(':'));
  const all = await Promise.all(names.map(async (name) => ({ name, facts: await redis.hmget(name, 'ws', 'pauseAt') })));
  return all.flatMap(({ name, facts: [workspaceId, pausedAt] }) =>
    workspaceId != null && pausedAt != null ? [{ workspaceId, id: name.slice(prefix.length) }] : [],
  );
}

/** False when there is nothing to send any more. */
async function send({ worker }: Engine, id: DeliveryId, lease: string, isProbe: boolean, now: number) {
  const loaded = await worker.deliveries.load(id);
  if (loaded.kind !== 'loaded') return false;
  const { delivery, endpoint } = loaded;
  const isNotice = delivery.endpointId === PLATFORM;
  const isOfNobody = !endpoint && !isNotice;
  if (isOfNobody) await worker.deliveries.cancel(id, 'receiver_removed', now);
  if (isOfNobody || (delivery.status !== 'pending' && delivery.owedAttempts === 0)) return false;
  await worker.deliveries.record({
    delivery,
    group: endpoint?.group ?? delivery.endpointId,
    verdict: { kind: 'delivered' },
    now,
    gone: false,
    isProbe,
    groupLimit: LIMIT,
    attempt: { at: now, durationMs: 1, status: 200 },
    answered: true,
    isRedelivery: delivery.owedAttempts > 0,
    ...(!isNotice && { disableAfterMs: 5 * DAY_MS }),
    lease,
  });
  return true;
}
