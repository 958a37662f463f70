import { callbackIdOf, deliveryIdOf, newTestTransitionId, transitionIdOfFact } from '@herald/core';
import type { Redis } from 'ioredis';
import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keys/keys';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { dropDeliveries, raiseRetention, shortenRetention } from '@herald/store/bulk/drop-deliveries';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { findAccountDifferences, mendAccounts } from '@herald/store/stats/recount-accounts';
import { countRecords } from '@herald/store/stats/workspace-accounts';
import { checkPermissions } from '@herald/store/redis/check-permissions';
import { checkWrites } from '@herald/store/redis/check-redis';
import { enqueuePending } from '@herald/store/data/enqueue-pending';
import { takeOverKey, takeUpgradeLease } from '@herald/store/data/take-over-data';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createSpend } from '../../../apps/api/src/http/rate-limit.ts';
import type { MoveDeps } from '../../../apps/cli/src/reshard/move-records.ts';
import { buildReceiver, buildTask } from '../../support/start-stores.ts';
import { moveTrail } from '../../../apps/cli/src/reshard/move-trail.ts';
import { AUDIT_LENGTH, type ProcessStores } from './process-stores.ts';
import type { Stage } from './stage.ts';

/** A state of Redis in which a script has work, and the call of a store that runs it. */
export type Scene = {
  readonly script: string;
  /** Tells the scenes of one script apart. */
  readonly when?: string;
  /** With a history: what has settled waits for it. */
  readonly hasHistory?: true;
  /** The whole data moves then: resharding, or taking over that of a former version. */
  readonly isOfAMove?: true;
  /** Absent: it writes. */
  readonly readsOnly?: true;
  /** It frees memory, or ends or holds what was begun: a Redis that is full must not keep it from that. */
  readonly mustWorkWhenFull?: true;
  /** It adds to an account what another script writes in another slot afterwards. */
  readonly isAheadOfRecord?: true;
  /** Arranges it. Returns what a process does then; another may do the same at once. */
  readonly arrange: (stage: Stage) => Promise<(process: ProcessStores) => Promise<unknown>>;
};

const KEYSPACE = createKeyspace(1);
const REQUEST = { owner: 'ws_1', apiKeyId: 'key_1', method: 'POST', path: '/tasks', idempotencyKey: 'once' };
const ANSWER = { status: 201, headers: {}, body: { id: 'task_1' } };
const HOUR_MS = 3_600_000;
const toDrop = (now: number) => ({
  keyspace: KEYSPACE,
  retention: createDeliveryRetention(HOUR_MS),
  now: () => now,
});

const deliveries: readonly Scene[] = [
  {
    script: 'ACCEPT_TRANSITIONS_LUA',
    when: 'the Task knows a fact',
    async arrange({ fill, createTask, commit, first }) {
      const { workspaceId, all } = await fill();
      const { task, callback } = await createTask(workspaceId);
      await commit(first, task, all, { status: 'running', sequence: 1 }, 'checkpoint:c1');
      const known = await first.tasks.find(workspaceId, task.id);
      if (!known) throw new Error('the Task is there');
      return (process) => commit(process, known, [...all, callback], { status: 'done', sequence: 2 }, 'done');
    },
  },
  {
    script: 'ACCEPT_TRANSITIONS_LUA',
    when: 'the Task knows none',
    async arrange({ fill, createTask, commit }) {
      const { workspaceId, all } = await fill();
      const { task, callback } = await createTask(workspaceId);
      return (process) => commit(process, task, [...all, callback], { status: 'done', sequence: 1 }, 'done');
    },
  },
  {
    script: 'createReserveScript',
    async arrange({ fill, reserveRequest, now }) {
      await fill();
      let reserves = 0;
      return ({ reserve }) => reserve(reserveRequest(now + 1_000, `n${reserves++}`));
    },
  },
  {
    script: 'createReserveScript',
    when: 'a destination is slow',
    mustWorkWhenFull: true,
    async arrange({ fill, reserveRequest, now }) {
      const { plain } = await fill();
      let reserves = 0;
      return ({ reserve }) => reserve(reserveRequest(now + 1_000, `n${reserves++}`, [plain.group]));
    },
  },
  {
    script: 'RECORD_ATTEMPTS_LUA',
    when: 'it was delivered, and another is next in its line',
    mustWorkWhenFull: true,
    async arrange({ fill, attemptAt }) {
      const { ids } = await fill();
      const attempt = await attemptAt(ids[1] ?? '', 200, { kind: 'delivered' });
      return (process) => process.deliveries.record(attempt);
    },
  },
  {
    script: 'RECORD_ATTEMPTS_LUA',
    when: 'it is tried again',
    mustWorkWhenFull: true,
    async arrange({ fill, attemptAt, now }) {
      const { ids } = await fill();
      const attempt = await attemptAt(ids[0] ?? '', 500, { kind: 'retry', at: now + HOUR_MS });
      return (process) => process.deliveries.record(attempt);
    },
  },
  {
    script: 'RECORD_ATTEMPTS_LUA',
    when: 'the receiver is gone, and the platform is told',
    mustWorkWhenFull: true,
    async arrange({ fill, attemptAt }) {
      const { ids } = await fill();
      const attempt = await attemptAt(ids[0] ?? '', 410, { kind: 'failed', reason: 'schedule_exhausted' });
      return (process) => process.deliveries.record(attempt);
    },
  },
  {
    script: 'END_DELIVERY_LUA',
    when: 'it waits',
    mustWorkWhenFull: true,
    async arrange({ fill, now }) {
      const { ids } = await fill();
      return (process) => process.deliveries.giveUp(ids[1] ?? '', now);
    },
  },
  {
    script: 'END_DELIVERY_LUA',
    when: 'its caller has it in work',
    mustWorkWhenFull: true,
    async arrange({ fill, engine, now }) {
      const { inWork } = await fill();
      const lease = await engine.leases.of(inWork, now);
      return (process) => process.deliveries.cancel(inWork, 'body_lost', now, { lease, isProbe: false });
    },
  },
  {
    script: 'END_DELIVERY_LUA',
    when: 'a redelivery was asked for meanwhile',
    mustWorkWhenFull: true,
    async arrange({ fill, engine, now }) {
      const { workspaceId, inWork } = await fill();
      const lease = await engine.leases.of(inWork, now);
      await engine.log.redeliver(workspaceId, inWork, now);
      return (process) => process.deliveries.giveUp(inWork, now, { lease, isProbe: false });
    },
  },
  {
    script: 'REDELIVER_LUA',
    async arrange({ fill, engine, now }) {
      const { workspaceId, ids } = await fill();
      const [id = ''] = ids;
      await engine.settle(id, now, 'failed');
      return ({ log }) => log.redeliver(workspaceId, id, now);
    },
  },
  {
    script: 'createFinishScript',
    mustWorkWhenFull: true,
    async arrange({ fill, reserve, toHeld }) {
      await fill();
      const [job] = await reserve();
      if (!job) throw new Error('something is due');
      return ({ leases }) => leases.finish(toHeld(job));
    },
  },
  {
    script: 'createPutBackScript',
    mustWorkWhenFull: true,
    async arrange({ fill, reserve, toHeld, now }) {
      await fill();
      const jobs = await reserve();
      return ({ leases }) => leases.putBack(jobs.map(toHeld), now + HOUR_MS);
    },
  },
  {
    script: 'createRecoverScript',
    mustWorkWhenFull: true,
    async arrange({ fill, reserve, now }) {
      await fill();
      await reserve(now - 1);
      return ({ leases }) => leases.recover();
    },
  },
  {
    script: 'EXTEND_LEASES_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, reserve }) {
      await fill();
      const jobs = await reserve();
      const handles = jobs.map(({ handle }) => handle);
      return ({ leases }) => leases.extend(handles, HOUR_MS);
    },
  },
  {
    script: 'PAUSE_LUA',
    when: 'it goes on',
    async arrange({ fill, first }) {
      await fill();
      await first.pause(true);
      return ({ pause }) => pause(false);
    },
  },
  {
    script: 'PAUSE_LUA',
    when: 'it stops',
    mustWorkWhenFull: true,
    async arrange({ fill }) {
      await fill();
      return ({ pause }) => pause(true);
    },
  },
  {
    script: 'ENQUEUE_PENDING_LUA',
    async arrange({ fill, redis, keys, now, first }) {
      const { plain, ids } = await fill();
      // One that failed stands in no log of them, as before an upgrade.
      await first.deliveries.giveUp(ids[1] ?? '', now);
      await redis.del(...(await redis.keys(`${keys.prefix}e:*:log:failed`)));
      // Nothing is in work, and one is nowhere.
      for (const handle of await redis.zrange(keys.queue.leases, '0', '-1')) {
        await redis.zrem(keys.queue.leases, handle);
        await redis.hdel(keys.queue.group(handle.split('|')[1] ?? ''), 'n');
      }
      await redis.zrem(keys.queue.waiting(plain.group), ids[0] ?? '');
      await redis.hincrby(keys.queue.settings, 'n', -1);
      return (process) => enqueuePending({ redis: process.redis, keyspace: KEYSPACE, now: () => now });
    },
  },
  {
    script: 'MEND_ACCOUNT_LUA',
    async arrange({ fill, redis, keys, now }) {
      const { workspaceId } = await fill();
      await redis.zincrby(keys.pending, 3, workspaceId);
      await redis.zincrby(keys.held, -700, workspaceId);
      const [at = ''] = await redis.hkeys(keys.workspaceLeaving(workspaceId));
      await redis.hincrby(keys.workspaceLeaving(workspaceId), at, 50);
      const differences = await findAccountDifferences({ redis, keyspace: KEYSPACE, now: () => now });
      return (process) => mendAccounts({ redis: process.redis, keyspace: KEYSPACE, now: () => now }, differences);
    },
  },
  {
    script: 'CREATE_TEST_EVENT_LUA',
    async arrange({ fill, now }) {
      const { workspaceId, plain } = await fill();
      const [endpointId, transitionId] = [plain.id, newTestTransitionId()];
      const ids = { transitionId, deliveryId: deliveryIdOf(transitionId, endpointId), endpointId, workspaceId };
      return ({ testEvents }) => testEvents.create({ ...ids, body: '{}', createdAt: now, sampleOf: 'task.done' });
    },
  },
  {
    script: 'CLAIM_TEST_EVENT_LUA',
    async arrange({ fill, first, now }) {
      const { workspaceId, plain } = await fill();
      const transitionId = newTestTransitionId();
      const deliveryId = deliveryIdOf(transitionId, plain.id);
      const event = { transitionId, deliveryId, endpointId: plain.id, workspaceId, body: '{}', createdAt: now };
      await first.testEvents.create(event);
      return ({ testEvents }) => testEvents.claim(workspaceId, deliveryId, 'lease');
    },
  },
];

const bulk: readonly Scene[] = [
  {
    script: 'CLAIM_PURGES_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, engine, first, now }) {
      const { workspaceId, ordered, plain } = await fill();
      await first.receivers.patch(workspaceId, ordered.id, { enabled: false }, now);
      // Nothing waits for it once it is done.
      await first.receivers.patch(workspaceId, plain.id, { enabled: false }, now);
      for await (const ended of first.purges.purge(plain.id, () => now)) void ended;
      await engine.redis.zadd(engine.keys.purge, now, plain.id);
      return ({ purges }) => purges.claim(now, now + HOUR_MS, 10);
    },
  },
  {
    script: 'PURGE_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, first, now }) {
      const { workspaceId, ordered } = await fill();
      await first.receivers.patch(workspaceId, ordered.id, { enabled: false }, now);
      const {
        ids: [id = ''],
      } = await first.purges.claim(now, now + HOUR_MS, 10);
      return ({ purges }) => purges.purge(id, () => now).next();
    },
  },
  {
    script: 'CLAIM_REPLAYS_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, first, now }) {
      const { workspaceId, plain } = await fill();
      const range = { since: 0, until: now, statuses: ['failed' as const], createdAt: now };
      await first.replays.create(workspaceId, { id: 'rpl_1', endpointId: plain.id, ...range });
      return ({ steps }) => steps.claim(now, now + HOUR_MS, 10);
    },
  },
  {
    script: 'CREATE_REPLAY_LUA',
    async arrange({ fill, now }) {
      const { workspaceId, plain } = await fill();
      const range = { since: 0, until: now, statuses: ['failed' as const], createdAt: now };
      return ({ replays }) => replays.create(workspaceId, { id: 'rpl_1', endpointId: plain.id, ...range });
    },
  },
  {
    script: 'STEP_REPLAY_LUA',
    async arrange({ fill, engine, first, now }) {
      const { workspaceId, ordered, ids } = await fill();
      await engine.settle(ids[1] ?? '', now, 'failed');
      const range = { since: 0, until: now, statuses: ['failed' as const], createdAt: now };
      await first.replays.create(workspaceId, { id: 'rpl_1', endpointId: ordered.id, ...range });
      return ({ steps }) => steps.step('rpl_1', now + 1_000);
    },
  },
  {
    script: 'STOP_REPLAY_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, first, now }) {
      const { workspaceId, plain } = await fill();
      const range = { since: 0, until: now, statuses: ['failed' as const], createdAt: now };
      await first.replays.create(workspaceId, { id: 'rpl_1', endpointId: plain.id, ...range });
      return ({ replays }) => replays.stop(workspaceId, 'rpl_1', now);
    },
  },
  {
    script: 'TAKE_SETTLED_LUA',
    hasHistory: true,
    mustWorkWhenFull: true,
    async arrange({ fill, engine, now }) {
      const { ids } = await fill();
      for (const id of ids) await engine.settle(id, now, 'delivered');
      let movers = 0;
      return ({ moves }) => moves.take(`mover ${movers++}`, now + 1_000, 10);
    },
  },
  {
    script: 'FORGET_MOVED_LUA',
    hasHistory: true,
    mustWorkWhenFull: true,
    async arrange({ fill, engine, first, now }) {
      const { ids } = await fill();
      for (const id of ids) await engine.settle(id, now, 'delivered');
      const batch = await first.moves.take('mover', now + 1_000, 10);
      if (!batch || batch.deliveries.length === 0) throw new Error('something has settled');
      return ({ moves }) => moves.forget(batch);
    },
  },
  {
    script: 'EXPIRE_SETTLED_LUA',
    hasHistory: true,
    mustWorkWhenFull: true,
    async arrange({ fill, engine, now }) {
      const { ids } = await fill();
      for (const id of ids) await engine.settle(id, now, 'delivered');
      return ({ moves }) => moves.expire(HOUR_MS, 10);
    },
  },
];

const tasks: readonly Scene[] = [
  {
    script: 'CREATE_TASK_LUA',
    async arrange({ fill, now }) {
      const { workspaceId } = await fill();
      const task = buildTask(workspaceId, { createdAt: now });
      const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: 'https://told.example.com/in' });
      const headers = { names: ['x-token'], encrypted: 'k1.headers' };
      const withSecrets = { endpoint: callback, encryptedSecret: 'k1.encrypted', headers };
      return (process) => process.tasks.create({ ...task, callback }, withSecrets);
    },
  },
  ...(['count', 'purge'] as const).map((mode): Scene => ({
    script: 'DROP_LUA',
    when: mode,
    ...(mode === 'count' ? { readsOnly: true } : { mustWorkWhenFull: true }),
    // As with one, what has settled may have left.
    ...(mode === 'purge' && { hasHistory: true }),
    async arrange({ fill, engine, now }) {
      const { workspaceId, ordered, ids } = await fill();
      await engine.settle(ids[0] ?? '', now, 'failed');
      const filter = { workspace: workspaceId, ...(mode !== 'purge' && { receiver: ordered.id }) };
      return ({ redis }) => dropDeliveries({ redis, ...toDrop(now) }, filter, mode);
    },
  })),
  {
    script: 'CANCEL_LUA',
    when: 'count',
    readsOnly: true,
    async arrange({ fill, now }) {
      const { workspaceId } = await fill();
      return ({ redis }) =>
        dropDeliveries({ redis, ...toDrop(now) }, { workspace: workspaceId, status: 'pending' }, 'count');
    },
  },
  ...(['wait', 'are in work'] as const).map((where): Scene => ({
    script: 'CANCEL_LUA',
    when: `they ${where}`,
    mustWorkWhenFull: true,
    async arrange({ fill, reserve, now }) {
      const { plain, ordered } = await fill();
      // All of the plain receiver's.
      await reserve();
      const filter = { receiver: where === 'wait' ? ordered.id : plain.id };
      return ({ redis }) => dropDeliveries({ redis, ...toDrop(now) }, filter, 'cancel');
    },
  })),
  {
    script: 'RAISE_RETENTION_LUA',
    mustWorkWhenFull: true,
    async arrange({ redis }) {
      await redis.hset(GLOBAL_KEYS.shards, 'retention', 1);
      return (process) => raiseRetention(process.redis, createDeliveryRetention(HOUR_MS));
    },
  },
  {
    script: 'SHORTEN_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, engine, now }) {
      const { ids, late } = await fill();
      for (const id of [...ids, ...late]) await engine.settle(id, now, 'delivered');
      const deps = { keyspace: KEYSPACE, retention: createDeliveryRetention(HOUR_MS), now: () => now };
      return ({ redis }) => shortenRetention({ redis, ...deps });
    },
  },
  {
    script: 'SPEND_LUA',
    mustWorkWhenFull: true,
    async arrange({ redis }) {
      await redis.set(GLOBAL_KEYS.rate('ws_1'), 1, 'PX', HOUR_MS);
      return (process) => createSpend(process.redis)('ws_1', 5);
    },
  },
  {
    script: 'SHOW_LUA',
    mustWorkWhenFull: true,
    arrange: ({ now }) =>
      Promise.resolve(({ redis }: ProcessStores) => createWorkerPresence(redis).show('worker-1', now)),
  },
  {
    script: 'LEAVE_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, redis, now }) {
      const { workspaceId } = await fill();
      // Redis deletes it in the same step: it has long expired.
      const past = {
        redis,
        keyspace: KEYSPACE,
        retention: createTaskRetention(HOUR_MS),
        now: () => now - 9_000 * HOUR_MS,
      };
      await createTaskStore(past).create(buildTask(workspaceId));
      return ({ accounts }) => accounts.largest(10);
    },
  },
  {
    script: 'COUNT_RECORDS_LUA',
    isOfAMove: true,
    async arrange({ fill, createTask, engine, redis, keys, now }) {
      const { workspaceId, ids } = await fill();
      await createTask(workspaceId, 'requires_action');
      for (const at of [now, now + 1])
        await engine.record(ids[0] ?? '', { now: at, verdict: { kind: 'retry', at: at + 9 } });
      // As a former version leaves it.
      await redis.del(keys.pending, keys.held, keys.leaving, keys.workspaceLeaving(workspaceId));
      for (const key of await redis.keys(`${keys.prefix}[te][:r]*`))
        if ((await redis.type(key)) === 'hash' && key.split(':').length < 4) await redis.hdel(key, 'b', 'leaves');
      return (process) => countRecords({ redis: process.redis, keyspace: KEYSPACE, now: () => now });
    },
  },
  {
    script: 'ADD_MESSAGE_LUA',
    async arrange({ createTask, now }) {
      const { task } = await createTask('ws_1');
      const message = { id: 'msg_1', text: 'more', createdAt: now };
      return (process) => process.tasks.addMessage('ws_1', task.id, message);
    },
  },
  {
    script: 'RESOLVE_APPROVAL_LUA',
    async arrange({ createTask, now }) {
      const { task } = await createTask('ws_1', 'requires_action');
      const decision = { approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: now };
      return (process) => process.tasks.resolve(task, decision, 'running');
    },
  },
  {
    script: 'NOTE_DIFFERENCE_LUA',
    async arrange({ createTask }) {
      const { task } = await createTask('ws_1');
      return ({ transitions }) => transitions.noteDifference('ws_1', task.id);
    },
  },
  ...['ERASE_TASK_LUA', 'ERASE_TRANSITION_LUA', 'ERASE_ATTEMPTS_LUA', 'NOTE_ERASED_LUA'].map((script): Scene => ({
    script,
    mustWorkWhenFull: true,
    async arrange({ fill, createTask, commit, engine, first, now }) {
      const { workspaceId, all } = await fill();
      const { task, callback } = await createTask(workspaceId);
      await first.tasks.addMessage(workspaceId, task.id, { id: 'msg_1', text: 'more', createdAt: now });
      engine.answerWith('what it said');
      await commit(first, task, [...all, callback], { status: 'done', sequence: 1 }, 'done');
      const id = deliveryIdOf(transitionIdOfFact(task.id, 'done') ?? '', all[0]?.id ?? '');
      for (const at of [now, now + 1]) await engine.record(id, { now: at, verdict: { kind: 'retry', at: at + 9 } });
      return ({ eraser }) => eraser().erase(workspaceId, task.id, now);
    },
  })),
  {
    script: 'MARK_ERASED_LUA',
    arrange({ now }) {
      const sequences = [{ transitionId: newTestTransitionId(), sequence: 1 }];
      const history = {
        listSequences: () => Promise.resolve(sequences),
        eraseTask: () => Promise.resolve(now),
      };
      return Promise.resolve(({ eraser }: ProcessStores) => eraser(history as never).erase('ws_1', 'task_1', now));
    },
  },
];

const endpoints: readonly Scene[] = [
  {
    script: 'REGISTER_RECEIVER_LUA',
    async arrange({ fill }) {
      const { workspaceId } = await fill();
      const receiver = buildReceiver(workspaceId);
      return ({ receivers }) => receivers.register(receiver, 'k1.encrypted');
    },
  },
  {
    script: 'PATCH_RECEIVER_LUA',
    when: 'its url changes',
    async arrange({ fill, now }) {
      const { workspaceId, limited } = await fill();
      const headers = { encrypted: 'k1.headers', names: ['x-token'] };
      const change = { url: 'https://moved.example.com/in', rateLimit: null, headers };
      return ({ receivers }) => receivers.patch(workspaceId, limited.id, change, now);
    },
  },
  {
    script: 'PATCH_RECEIVER_LUA',
    when: 'it is disabled',
    mustWorkWhenFull: true,
    async arrange({ fill, now }) {
      const { workspaceId, plain } = await fill();
      return ({ receivers }) => receivers.patch(workspaceId, plain.id, { enabled: false }, now);
    },
  },
  {
    script: 'PATCH_RECEIVER_LUA',
    when: 'it is paused',
    mustWorkWhenFull: true,
    async arrange({ fill, now }) {
      const { workspaceId, plain } = await fill();
      return ({ receivers }) => receivers.pause(workspaceId, plain.id, 'Because.', now);
    },
  },
  {
    script: 'PATCH_CALLBACK_LUA',
    async arrange({ fill, createTask, now }) {
      const { workspaceId } = await fill();
      const { callback } = await createTask(workspaceId);
      const change = { url: 'https://moved.example.com/in', description: 'moved' };
      return ({ callbacks }) => callbacks.patch(workspaceId, callback.id, change, now);
    },
  },
  {
    script: 'REMOVE_RECEIVER_LUA',
    mustWorkWhenFull: true,
    async arrange({ fill, now }) {
      const { workspaceId, plain } = await fill();
      return ({ receivers }) => receivers.remove(workspaceId, plain.id, now);
    },
  },
  {
    script: 'ROTATE_SECRET_LUA',
    async arrange({ fill, now }) {
      const { workspaceId, plain } = await fill();
      return ({ receivers }) => receivers.rotateSecret(workspaceId, plain.id, 'k2.new', now + HOUR_MS, now);
    },
  },
  {
    script: 'REPLACE_SECRET_LUA',
    async arrange({ fill, keys }) {
      const { plain } = await fill();
      const secret = { keys, endpointId: plain.id, field: 'sec', encrypted: 'encrypted', fingerprint: 'k1' } as const;
      return ({ secrets }) => secrets.replace(secret, 'k2.encrypted', 'k2');
    },
  },
  {
    script: 'REGISTER_KEY_VERSION_LUA',
    arrange: () => Promise.resolve(({ keyVersions }: ProcessStores) => keyVersions.register(['k1'], 'k1')),
  },
  {
    script: 'FORGET_KEY_VERSION_LUA',
    async arrange({ first, keys }) {
      await first.keyVersions.register(['k1'], 'k1');
      return ({ keyVersions }) => keyVersions.forget({ keys, fingerprint: 'k1', count: 0 });
    },
  },
  {
    script: 'HOLD_LISTENER_LUA',
    async arrange({ fill, now }) {
      const { workspaceId } = await fill();
      return ({ listeners }) => listeners.hold(workspaceId, 'lst_1', now);
    },
  },
];

const access: readonly Scene[] = [
  ...['COPY_ENTRIES_LUA', 'NOTE_COPIES_LUA', 'PUT_IN_PLACE_LUA'].map((script): Scene => ({
    script,
    isOfAMove: true,
    async arrange({ first }) {
      for (const target of ['key_1', 'key_2']) await first.audit.add({ by: 'cli', action: 'createKey', target });
      await first.shardRecord.enter(1);
      await first.shardRecord.beginResharding(1);
      const deps = {
        owners: {} as MoveDeps['owners'],
        awaitCopies: () => Promise.resolve(),
        onProgress: () => undefined,
      };
      return ({ redis, shardRecord }) => moveTrail({ ...deps, redis, target: KEYSPACE }, shardRecord);
    },
  })),
  {
    script: 'ADVANCE_LUA',
    mustWorkWhenFull: true,
    async arrange({ first }) {
      await first.audit.add({ by: 'cli', action: 'createKey', target: 'key_1' });
      const step = await first.auditFollower.next('log', 10);
      return ({ auditFollower }) => auditFollower.advance('log', step);
    },
  },
  {
    script: 'ADD_ENTRY_LUA',
    when: 'the trail is full',
    async arrange({ first, now }) {
      const entry = { by: 'cli', action: 'createKey', workspaceId: 'ws_1' };
      for (let index = 0; index < AUDIT_LENGTH; index++) await first.audit.add({ ...entry, target: `key_${now}` });
      return ({ audit }) => audit.add(entry);
    },
  },
  {
    script: 'ENTER_LUA of portal-link-store',
    arrange: () => {
      const asked = { workspaceId: 'ws_1', readOnly: true, lifeMs: HOUR_MS, madeBy: { operator: 'ada' } };
      return Promise.resolve(({ portalLinks }: ProcessStores) => portalLinks.create(asked));
    },
  },
  {
    script: 'ENTER_KEY_LUA',
    arrange: () =>
      Promise.resolve(({ apiKeys }: ProcessStores) =>
        apiKeys.createLimited({ workspaceId: 'ws_1', scopes: ['tasks'] }),
      ),
  },
  {
    script: 'BIND_LUA',
    arrange: () => Promise.resolve(({ bindings }: ProcessStores) => bindings.bind('ws_1', 'ws_2')),
  },
  {
    script: 'WRITE_LAST_USE_LUA',
    async arrange({ first, now }) {
      const { record } = await first.apiKeys.create({ workspaceId: 'ws_1', scopes: ['tasks'] });
      return ({ apiKeys }) => apiKeys.writeLastUse(record.id, now);
    },
  },
  {
    script: 'ACQUIRE_RECORD_LUA',
    mustWorkWhenFull: true,
    arrange: () => Promise.resolve(({ idempotency }: ProcessStores) => idempotency.acquire(REQUEST, 'body')),
  },
  {
    script: 'MARK_LUA',
    mustWorkWhenFull: true,
    arrange: () =>
      Promise.resolve(({ awaitReplication }: ProcessStores) =>
        awaitReplication({ key: KEYSPACE.shards[0]?.prefix ?? '' }),
      ),
  },
  {
    script: 'COUNT_ANSWER_LUA',
    isAheadOfRecord: true,
    arrange: () =>
      Promise.resolve(async ({ idempotency }: ProcessStores) => {
        const reply = await idempotency.acquire(REQUEST, 'body');
        return reply.kind === 'acquired' ? await reply.record.keepAnswer(ANSWER) : reply;
      }),
  },
  ...(['RENEW_RECORD_LUA', 'KEEP_ANSWER_LUA', 'GIVE_BACK_RECORD_LUA'] as const).map((script): Scene => ({
    script,
    ...(script !== 'KEEP_ANSWER_LUA' && { mustWorkWhenFull: true }),
    arrange: () =>
      Promise.resolve(async ({ idempotency }: ProcessStores) => {
        const reply = await idempotency.acquire(REQUEST, 'body');
        if (reply.kind !== 'acquired') return reply;
        if (script === 'RENEW_RECORD_LUA') return await reply.record.renew();
        return script === 'KEEP_ANSWER_LUA'
          ? await reply.record.keepAnswer(ANSWER)
          : await reply.record.giveBack('nothing');
      }),
  })),
];

const start: readonly Scene[] = [
  {
    script: 'ENTER_LUA of shard-record',
    arrange: () => Promise.resolve(({ shardRecord }: ProcessStores) => shardRecord.enter(1, 2)),
  },
  {
    script: 'FINISH_UPGRADE_LUA',
    async arrange({ first }) {
      await first.shardRecord.enter(1);
      await first.shardRecord.beginUpgrade(2);
      return ({ shardRecord }) => shardRecord.finishUpgrade(2);
    },
  },
  {
    script: 'RENEW_LUA',
    arrange: () => Promise.resolve(async ({ redis }: ProcessStores) => (await takeUpgradeLease(redis))?.release()),
  },
  {
    script: 'RENAME_RECORD_LUA',
    isOfAMove: true,
    async arrange({ fill, engine, redis, keys, now }) {
      const [id = ''] = (await fill()).ids;
      const former = `${keys.prefix}d:${id}:a`;
      for (const at of [now, now + 1]) await engine.record(id, { now: at, verdict: { kind: 'retry', at: at + 9 } });
      await redis.rename(keys.attempts(id), former);
      return (process) => takeOverKey(process.redis, KEYSPACE.shards, former);
    },
  },
  {
    script: 'TAKE_OVER_ENDPOINT_LUA',
    isOfAMove: true,
    async arrange({ fill, redis, keys, now }) {
      const { plain } = await fill();
      // It has no deliveries.
      const { id } = buildReceiver('ws_1');
      await redis.copy(keys.endpoint(plain.id), keys.endpoint(id));
      await redis.hset(keys.queue.group(plain.origin), { fails: 7, open: '1', wait: 20_000, probe: now + HOUR_MS });
      await redis.pexpire(keys.queue.group(plain.origin), HOUR_MS);
      return (process) => takeOverKey(process.redis, KEYSPACE.shards, keys.endpoint(id));
    },
  },
  { script: 'WRITE_LUA', arrange: () => Promise.resolve(({ redis }: ProcessStores) => checkWrites(redis, 1)) },
  {
    script: 'MAY_LUA',
    readsOnly: true,
    arrange: () =>
      Promise.resolve(({ redis }: ProcessStores) =>
        checkPermissions(redis as Redis, { user: 'default', shardCount: 1, waits: false }),
      ),
  },
];

type Filled = Awaited<ReturnType<Stage['fill']>>;
const readers = Object.entries<(process: ProcessStores, filled: Filled) => Promise<unknown>>({
  LOAD_DELIVERY_LUA: ({ deliveries: store }, { ids }) => store.load(ids[0] ?? ''),
  LOOK_AT_TASK_LUA: ({ tasks }, { workspaceId }) => tasks.listByWorkspace(workspaceId, {}, 10),
  COUNT_LOG_LUA: ({ logs, keys }, { plain }) => logs.count(keys.endpointLog(plain.id), { since: 0, until: 9e12 }),
  READ_ENTRIES_LUA: ({ logs, keys }, { plain }) => logs.oldestFirst(keys.endpointLog(plain.id), {}, 10),
  COUNT_ACCOUNTED_LUA: ({ redis }) => findAccountDifferences({ redis, keyspace: KEYSPACE, now: Date.now }),
  READ_PENDING_LUA: ({ logs, keys }, { plain }) => logs.findPending(keys, plain.id),
  READ_ACTIVITY_LUA: ({ activity }, { workspaceId }) => activity.readVersion(workspaceId),
  READ_QUEUE_STATE_LUA: ({ readQueueState }) => readQueueState(),
  LIST_GROUPS_LUA: ({ groups }) => groups.list(10),
  FIND_GROUP_LUA: ({ groups }, { plain }) => groups.find(plain.group),
  LIST_JOBS_LUA: ({ board }) => board.getRanges(['waiting'], 0, 9),
  FIND_JOB_LUA: ({ board }, { inWork }) => board.getJobState(inWork),
}).map(([script, read]): Scene => ({
  script,
  readsOnly: true,
  mustWorkWhenFull: true,
  async arrange({ fill }) {
    const filled = await fill();
    return (process) => read(process, filled);
  },
}));

/** Each script of the code has one at least. */
export const SCENES: readonly Scene[] = [
  ...deliveries,
  ...bulk,
  ...tasks,
  ...endpoints,
  ...access,
  ...start,
  ...readers,
];
