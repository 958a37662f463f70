import type { Delivery, DeliveryId, DeliveryStatus, ListPlace, TaskId } from '@herald/core';
import type { DeliveryPage } from '@herald/store/lists/delivery-lists';
import type { TaskOf } from '../../support/create-task-of.ts';
import type { Receiver } from '../engine/start-engine.ts';
import type { ListKind, Step } from './history-steps.ts';
import type { HistoryEngine } from './start-history-engine.ts';

/** A delivery, and what is known of it from outside. */
type Known = {
  readonly id: DeliveryId;
  readonly taskId: TaskId;
  readonly receiverId: string;
  status: DeliveryStatus;
  owed: number;
  attempts: number;
  isErased: boolean;
};

/** A reader on its way through a list. */
type Walk = {
  readonly list: ListKind;
  readonly limit: number;
  readonly receiver: Receiver;
  readonly taskId: TaskId;
  /** Those that were in the list when it began; of a filter, those that stayed in it. */
  readonly expected: Set<DeliveryId>;
  readonly seen: DeliveryId[];
  after: ListPlace | undefined;
};

/** Some Tasks and receivers of one workspace; does what a step says, and tells what was wrong with what was read. */
export function startHistoryModel(engine: HistoryEngine, receivers: readonly Receiver[], tasks: readonly TaskOf[]) {
  const { log, redis, keys, eraser, load, record } = engine;
  const move = () => engine.move();
  const workspaceId = receivers[0]?.workspaceId ?? '';
  const known = new Map<DeliveryId, Known>();
  const erased = new Set<TaskId>();
  const forgotten = new Set<TaskId>();
  const clock = { now: Date.now() };
  const walks: Walk[] = [];
  const at = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)];

  const accept = async (task: TaskOf) => {
    if (erased.has(task.id) || forgotten.has(task.id)) return;
    const ids = await task.accept(receivers, clock.now);
    for (const [index, id] of ids.entries()) {
      const receiverId = receivers[index]?.id ?? '';
      const fresh = { status: 'pending', owed: 0, attempts: 0, isErased: false } as const;
      known.set(id, { id, taskId: task.id, receiverId, ...fresh });
    }
  };

  const attempt = async (one: Known, isGood: boolean) => {
    const attemptAt = ++clock.now;
    const { status } = await record(one.id, {
      now: attemptAt,
      verdict: isGood ? { kind: 'delivered' } : { kind: 'failed', reason: 'schedule_exhausted' },
      attempt: { at: attemptAt, durationMs: 1, status: isGood ? 200 : 500, answer: `canary ${attemptAt}` },
    });
    if (status === undefined) throw new Error(`${one.id} is gone`);
    one.owed = Math.max(0, one.owed - 1);
    one.status = status;
    one.attempts++;
    for (const walk of walks) if (walk.list === 'failed') walk.expected.delete(one.id);
  };

  const redeliver = async (one: Known) => {
    const { kind } = await log.redeliver(workspaceId, one.id, ++clock.now);
    expect(kind).toBe(one.isErased ? 'erased' : 'pending');
    if (one.isErased) return;
    one.owed++;
    const { body } = await load(one.id);
    expect(body.toString()).toContain(`"task":{"id":"${one.taskId}"`);
  };

  const replay = async (receiver: Receiver, isOfDelivered: boolean) => {
    const id = `rpl_${clock.now++}`;
    const statuses = isOfDelivered ? (['delivered'] as const) : (['failed', 'canceled'] as const);
    const until = clock.now + 1;
    const asked = { id, endpointId: receiver.id, since: 0, until, statuses, createdAt: clock.now };
    expect(await engine.replays.create(workspaceId, asked)).toBe('created');
    while ((await engine.worker.steps.step(id, clock.now)).kind === 'stepped');
    const inRange = [...known.values()].filter(({ receiverId }) => receiverId === receiver.id);
    const again = inRange.filter(
      ({ status, owed, isErased }) =>
        !isErased && (statuses as readonly string[]).includes(status) && !(status === 'delivered' && owed > 0),
    );
    const count = inRange.length;
    const found = await engine.replays.find(workspaceId, id);
    expect(found).toMatchObject({ status: 'done', total: count, seen: count, replayed: again.length });
    for (const one of again) {
      // What was delivered stays so.
      if (one.status === 'delivered') one.owed++;
      else one.status = 'pending';
      for (const walk of walks) if (walk.list === 'failed') walk.expected.delete(one.id);
    }
  };

  const erase = async (taskId: TaskId) => {
    if (!forgotten.has(taskId)) await redis.hset(keys.task(taskId), 'status', 'done');
    const { kind } = await eraser.erase(workspaceId, taskId, ++clock.now);
    const own = [...known.values()].filter((one) => one.taskId === taskId);
    expect(kind).toBe(forgotten.has(taskId) && own.length === 0 ? 'missing' : 'erased');
    erased.add(taskId);
    for (const one of own) {
      one.isErased = true;
      one.owed = 0;
      if (one.status === 'pending') one.status = 'canceled';
    }
  };

  const forget = async (taskId: TaskId) => {
    const own = [...known.values()].filter((one) => one.taskId === taskId);
    const left = await Promise.all(own.map(({ id }) => redis.exists(keys.delivery(id))));
    if (left.some((count) => count > 0)) return;
    await redis.del(keys.task(taskId), keys.facts(taskId));
    forgotten.add(taskId);
  };

  const begin = ({ list, pick, limit }: Extract<Step, { kind: 'begin' }>) => {
    const [receiver, task] = [at(receivers, pick), at(tasks, pick)];
    if (!receiver || !task) return;
    const belongs = (one: Known) => {
      if (list === 'receiver') return one.receiverId === receiver.id;
      if (list === 'failed') return one.status === 'failed';
      return list === 'workspace' || one.taskId === task.id;
    };
    const expected = new Set([...known.values()].filter(belongs).map(({ id }) => id));
    walks.push({ list, limit, receiver, taskId: task.id, expected, seen: [], after: undefined });
  };

  const readPage = async ({ list, limit, receiver, taskId, after }: Walk): Promise<DeliveryPage | undefined> => {
    switch (list) {
      case 'workspace':
        return await log.listByWorkspace(workspaceId, {}, limit, after);
      case 'receiver':
        return await log.listByEndpoint(workspaceId, receiver.id, {}, limit, after);
      case 'failed':
        return await log.listByWorkspace(workspaceId, { status: 'failed' }, limit, after);
      case 'filter':
        return await log.listByWorkspace(workspaceId, { task: taskId }, limit, after);
      case 'task':
        return await log.listByTask(workspaceId, taskId, limit, after);
    }
  };
  const page = async (walk: Walk, beside: boolean) => {
    const [found] = await Promise.all([readPage(walk), beside && move()]);
    for (const each of found?.deliveries ?? []) {
      expect(shown(each)).toEqual(shownOf(known.get(each.id)));
      expect(each.lastAttempt === undefined).toBe(known.get(each.id)?.attempts === 0);
      walk.seen.push(each.id);
    }
    walk.after = found?.next;
    if (found?.next) return;
    walks.splice(walks.indexOf(walk), 1);
    expect(walk.seen).toHaveLength(new Set(walk.seen).size);
    expect([...walk.expected].filter((id) => !walk.seen.includes(id))).toEqual([]);
  };

  const look = async (one: Known) => {
    const found = await log.find(workspaceId, one.id);
    expect(found && shown(found.delivery)).toEqual(shownOf(one));
    expect(found?.attempts).toHaveLength(one.attempts);
    expect(JSON.stringify(found).includes('canary')).toBe(!one.isErased && one.attempts > 0);
    const content = found && (await log.readContent(found.delivery));
    expect(content?.body === undefined).toBe(one.isErased);
  };

  const doStep = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'accept': {
        clock.now += step.afterMs;
        const task = at(tasks, step.task);
        if (task) await accept(task);
        return;
      }
      case 'attempt': {
        const one = at(
          [...known.values()].filter(({ status, owed }) => status === 'pending' || owed > 0),
          step.pick,
        );
        if (one) await attempt(one, step.isGood);
        return;
      }
      case 'write':
        await engine.write();
        return;
      case 'move':
        await move();
        return;
      case 'redeliver': {
        const one = at([...known.values()], step.pick);
        if (one) await redeliver(one);
        return;
      }
      case 'replay': {
        const receiver = at(receivers, step.receiver);
        if (receiver) await replay(receiver, step.delivered);
        return;
      }
      case 'erase':
        await erase(at(tasks, step.task)?.id ?? '');
        return;
      case 'forget':
        await forget(at(tasks, step.task)?.id ?? '');
        return;
      case 'begin':
        begin(step);
        return;
      case 'page': {
        const walk = at(walks, step.pick);
        if (walk) await page(walk, step.beside);
        return;
      }
      case 'look': {
        const one = at([...known.values()], step.pick);
        if (one) await look(one);
      }
    }
  };
  return {
    doStep,
    /** Reads every list that was begun to its end, and each delivery. */
    async finish(): Promise<void> {
      for (let walk = walks[0]; walk; walk = walks[0]) await page(walk, false);
      for (const one of known.values()) await look(one);
    },
  };
}

function shown({ id, status, owedAttempts, erasedAt }: Delivery) {
  return { id, status, owed: owedAttempts, isErased: erasedAt !== undefined };
}

function shownOf(one: Known | undefined) {
  return one && { id: one.id, status: one.status, owed: one.owed, isErased: one.isErased };
}
