import { createRetryPolicy, type AttemptOutcome, type DeliveryId } from '@herald/core';
import { dropDeliveries } from '@herald/store/bulk/drop-deliveries';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { processDelivery, type ProcessDeliveryDeps } from '../../../apps/worker/src/deliver.ts';
import type { LoadedDelivery, LoadReply } from '@herald/store/deliveries/delivery-record';
import { CLASS_FACTOR } from '../../../packages/queue/src/queue-keys.ts';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import type { TaskOf } from '../../support/create-task-of.ts';
import type { Answer, Step } from './delivery-steps.ts';
import { LIMIT, RETENTION_MS, type Engine, type Receiver } from './start-engine.ts';

/** A delivery, and what is known of it from outside. */
export type Known = {
  readonly id: DeliveryId;
  readonly taskId: string;
  readonly receiver: Receiver;
  readonly sequence: number;
  /** From when it waits for its turn at the earliest, epoch ms; undefined: it was accepted or replayed without order. */
  joinedAt: number | undefined;
  /** Somebody asked for it while it was pending. */
  isAskedFor: boolean;
};

type Held = { readonly worker: number; readonly job: Reserved };

const SILENT: ProcessDeliveryDeps['report'] = {
  attempted: () => undefined,
  ended: () => undefined,
  purged: () => undefined,
  told: () => undefined,
  bodyLost: () => undefined,
  noticeLeft: () => undefined,
};

const ANSWERS: Readonly<Record<Answer, AttemptOutcome>> = {
  200: { kind: 'responded', status: 200, answer: '' },
  410: { kind: 'responded', status: 410, answer: '' },
  // It doesn't fit into the record of a delivery.
  500: { kind: 'responded', status: 500, answer: '\u0001'.repeat(1_024) },
  none: { kind: 'timed_out', phase: 'response' },
};

const RETRY_POLICY = createRetryPolicy([1_000, 60_000]);

/** Some Tasks and receivers of one workspace on a real Redis; does what a step says, as API and workers would. */
export function startModel(engine: Engine, receivers: readonly Receiver[], tasks: readonly TaskOf[]) {
  const { stores, worker, otherWorker, log, replays } = engine;
  const workers = [worker, otherWorker];
  const clock = { now: Date.now() };
  const known = new Map<DeliveryId, Known>();
  const underWay = new Set<string>();
  const taken = new Map<string, number[]>();
  let held: Held[] = [];
  let count = 0;

  const current = async ({ workspaceId, id }: Receiver) => {
    const found = await stores.receivers.find(workspaceId, id);
    if (!found) throw new Error('no receiver is ever removed');
    return found;
  };
  const noteTaken = ({ handle, group, loaded }: Reserved) => {
    const { endpoint } = loaded as Partial<LoadedDelivery>;
    if (Number.parseFloat(handle) < CLASS_FACTOR || !endpoint?.rateLimit) return;
    const name = `${group} ${endpoint.rateLimit.perSecond}`;
    taken.set(name, [...(taken.get(name) ?? []), clock.now]);
  };
  const take = (pick: number): Held | undefined => held.splice(pick % Math.max(1, held.length), 1)[0];
  const at = <T>(all: readonly T[], index: number): T => {
    const found = all[index % all.length];
    if (found === undefined) throw new Error('there is nothing to choose from');
    return found;
  };

  const accept = async (task: TaskOf) => {
    const targets = await Promise.all(receivers.map(current));
    const ids = await task.accept(targets, clock.now);
    for (const [index, id] of ids.entries()) {
      const receiver = at(targets, index);
      const joinedAt = receiver.ordering === 'task' && receiver.enabled ? clock.now : undefined;
      known.set(id, { id, taskId: task.id, receiver, sequence: task.sequence(), joinedAt, isAskedFor: false });
    }
  };

  /** Sends, as a worker does, and records what came of it. */
  const end = async ({ worker: index, job }: Held, outcome: AttemptOutcome) => {
    const own = at(workers, index);
    const deps: ProcessDeliveryDeps = {
      deliveries: own.deliveries,
      makeAttempt: () => Promise.resolve({ outcome, startedAt: clock.now, durationMs: ++count, keyIds: [] }),
      groupLimit: LIMIT,
      platform: undefined,
      report: SILENT,
      now: () => clock.now,
      retryPolicies: { usual: RETRY_POLICY, callbacks: RETRY_POLICY },
      disableAfterMs: 432_000_000,
      isStopping: () => false,
      random: () => 0.5,
    };
    const turn = { id: job.id, lease: job.handle, isProbe: job.isProbe, loaded: job.loaded as LoadReply | undefined };
    const { kind } = await processDelivery(deps, turn, new AbortController().signal);
    if (kind === 'finished') await own.finish(job, clock.now);
  };

  const purge = async () => {
    for (const { id } of receivers) {
      for await (const ended of worker.purges.purge(id, () => clock.now)) expect(ended).toBeDefined();
    }
  };

  const stepReplays = async () => {
    for (const id of underWay) {
      const before = new Map<DeliveryId, string>();
      for (const each of known.keys()) before.set(each, await engine.statusOf(each));
      const { kind } = await worker.steps.step(id, clock.now);
      for (const each of known.values()) {
        if (before.get(each.id) === 'pending' || (await engine.statusOf(each.id)) !== 'pending') continue;
        const { ordering } = await current(each.receiver);
        each.joinedAt = ordering === 'task' ? clock.now : undefined;
        each.isAskedFor = (await engine.redis.hexists(engine.keys.delivery(each.id), 'owe')) === 1;
      }
      if (kind === 'ended') underWay.delete(id);
    }
  };
  const doStep = async (step: Step): Promise<readonly Reserved[]> => {
    const { now } = clock;
    switch (step.kind) {
      case 'accept':
        for (let left = step.count; left > 0; left--) await accept(at(tasks, step.task));
        return [];
      case 'reserve': {
        const jobs = await at(workers, step.worker).reserve(now, step.room);
        held.push(...jobs.map((job) => ({ worker: step.worker, job })));
        for (const job of jobs) noteTaken(job);
        return jobs;
      }
      case 'end': {
        const one = take(step.pick);
        if (one) await end(one, ANSWERS[step.answer]);
        return [];
      }
      case 'putBack': {
        const one = take(step.pick);
        if (one) await at(workers, one.worker).putBack(one.job, now);
        return [];
      }
      case 'kill':
        held = held.filter(({ worker: own }) => own !== step.worker);
        return [];
      case 'recover':
        await worker.recover(now);
        return [];
      case 'redeliver': {
        const one = [...known.values()][step.pick % Math.max(1, known.size)];
        if (!one) return [];
        const { kind } = await log.redeliver(one.receiver.workspaceId, one.id, now);
        if (kind === 'pending') one.isAskedFor = true;
        return [];
      }
      case 'replay': {
        const { workspaceId, id: endpointId } = at(receivers, step.receiver);
        const statuses = step.delivered ? (['delivered'] as const) : (['failed', 'canceled'] as const);
        const replay = { id: `rpl_${count++}`, endpointId, since: 0, until: now + 1, statuses, createdAt: now };
        if ((await replays.create(workspaceId, replay)) === 'created') underWay.add(replay.id);
        await stepReplays();
        return [];
      }
      case 'purge':
        await purge();
        return [];
      case 'cancel': {
        const { redis, keyspace } = stores;
        const deps = { redis, keyspace, retention: createDeliveryRetention(RETENTION_MS), now: () => now };
        await dropDeliveries(deps, { receiver: at(receivers, step.receiver).id }, 'cancel');
        return [];
      }
      case 'toggle': {
        const { workspaceId, id, enabled } = await current(at(receivers, step.receiver));
        await stores.receivers.patch(workspaceId, id, { enabled: !enabled }, now);
        return [];
      }
      case 'move': {
        const { workspaceId, id } = at(receivers, step.receiver);
        const url = `https://host-${count++ % 3}.example.com/`;
        await stores.receivers.patch(workspaceId, id, { url }, now);
        return [];
      }
      case 'switchOrder': {
        const { workspaceId, id, ordering } = await current(at(receivers, step.receiver));
        await stores.receivers.patch(workspaceId, id, { ordering: ordering === 'task' ? 'none' : 'task' }, now);
        return [];
      }
      case 'switchRate': {
        const { workspaceId, id } = at(receivers, step.receiver);
        const rateLimit = step.perSecond === undefined ? null : { perSecond: step.perSecond };
        await stores.receivers.patch(workspaceId, id, { rateLimit }, now);
        return [];
      }
      case 'advance':
        clock.now += step.ms;
        return [];
    }
  };

  return {
    clock,
    known,
    doStep,
    stepReplays,
    /** By group and rate, when deliveries were taken that had to wait for a token, epoch ms. */
    taken,
    /** Replays that are not done. */
    underWay,
    /** Whether a worker holds anything. */
    isBusy: () => held.length > 0,
    async recoverReceivers(): Promise<void> {
      for (const { workspaceId, id } of receivers)
        await stores.receivers.patch(workspaceId, id, { enabled: true }, clock.now);
      await purge();
    },
  };
}
export type Model = ReturnType<typeof startModel>;
