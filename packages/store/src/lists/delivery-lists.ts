import {
  deliveryIdOf,
  isCallbackId,
  TASK_TRANSITIONS,
  transitionIdOfFact,
  whileAvailable,
  type DeliveryStatus,
  type EndpointId,
  type HistoryReader,
  type ListDeliveries,
  type ListedPast,
  type ListPlace,
  type PastSequence,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { readFactValue, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import {
  matches,
  mergeParts,
  needsLast,
  readPart,
  toListedPast,
  type DeliveryReader,
  type ListedDelivery,
  type ListEntry,
  type ListPart,
  type Looked,
  type WorkspaceFilter,
} from './delivery-reader.ts';
import { createLogReader, isAfter } from './log-reader.ts';

export type DeliveryFilter = Omit<ListDeliveries, 'limit' | 'cursor' | 'sinceCursor'>;

/**
 * `next`: the place of the last delivery that was looked at. A page may be short, or empty, and still have a next one.
 * `isPartial`: history couldn't be read, so that the page may lack deliveries. `lookedAt`: records that were read for it.
 */
export type DeliveryPage = {
  readonly deliveries: readonly ListedDelivery[];
  readonly next?: ListPlace;
  readonly isPartial?: true;
  readonly lookedAt: number;
};

/** A log of deliveries: a receiver's, a callback's or that of all callbacks. `hasEnded`: see `ENDED_LUA`. */
type DeliveriesLog = { readonly log: string; readonly receiverId?: EndpointId; readonly hasEnded: boolean };

/** That of a receiver or a callback. */
function logOf(keys: ShardKeys, id: EndpointId): DeliveriesLog {
  const log = keys.endpointLog(id);
  return isCallbackId(id) ? { log, hasEnded: false } : { log, receiverId: id, hasEnded: true };
}

type DeliveryListsDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly reader: DeliveryReader;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: HistoryReader | undefined;
};

/**
 * Lists of a workspace's deliveries, of those in Redis and those in history alike. What a page costs doesn't depend on
 * how many there are. Each throws HistoryUnavailableError when Redis has nothing to show and history can't be read.
 */
export function createDeliveryLists({ redis, keyspace, reader, history }: DeliveryListsDeps) {
  const logReader = createLogReader(redis);
  const tasks = createTaskDeliveries({ redis, keyspace, reader, history });
  const toPage = async (
    { entries, next }: ListPart<ListEntry>,
    lookedAt: number,
    isPartial = false,
  ): Promise<DeliveryPage> => ({
    lookedAt,
    deliveries: await Promise.all(entries.map((entry) => reader.toListed(entry))),
    ...(next && { next }),
    ...(isPartial && { isPartial }),
  });

  /** Adds the last attempt of each, where the filter can't do without. */
  const withLast = async <Entry extends Looked>(entries: readonly Entry[], filter: WorkspaceFilter) =>
    await Promise.all(
      entries.map(async (entry) => {
        const { delivery, first, past } = entry;
        if (!delivery || !needsLast(delivery, filter)) return entry;
        return { ...entry, last: await reader.findLast({ delivery, first, ...(past && { past }) }) };
      }),
    );

  /** What history has, unless it came back to Redis in between, or so long ago that its log has forgotten it. */
  const toEntry = async (past: ListedPast): Promise<ListEntry> => {
    const { id, workspaceId, createdAt } = past.delivery;
    const present = await reader.read(workspaceId, id);
    return { at: createdAt, id, ...(present ?? { delivery: past.delivery, past }) };
  };
  /** What a list of this status reads in place of a log, so that it looks at what it shows and at little else. */
  const findSource = async (
    keys: ShardKeys,
    { log, receiverId, hasEnded }: DeliveriesLog,
    status: DeliveryStatus | undefined,
  ): Promise<string | readonly ListPlace[]> => {
    if (status === 'failed' || status === 'canceled') return hasEnded ? keys.endedLog(log, status) : log;
    if (status !== 'pending' || receiverId === undefined) return log;
    return (await logReader.findPending(keys, receiverId)) ?? log;
  };
  /** A page of what stands in these logs and in history, of one endpoint or of all. */
  const readLogs = async (
    workspaceId: WorkspaceId,
    logs: readonly DeliveriesLog[],
    { endpointId, ...filter }: WorkspaceFilter & { readonly endpointId?: EndpointId | undefined },
    limit: number,
    after?: ListPlace,
    signal?: AbortSignal,
  ): Promise<DeliveryPage> => {
    const keys = keyspace.of(workspaceId);
    const sources = await Promise.all(logs.map((log) => findSource(keys, log, filter.status)));
    const nextPlaces = logReader.newestFirst(sources, filter, after);
    const next = async (count: number) => {
      const places = await nextPlaces(count);
      const found = await Promise.all(places.map(({ id }) => reader.read(workspaceId, id)));
      const entries = places.map((place, index): Looked => ({ ...place, ...found[index] }));
      return await withLast(entries, filter);
    };
    const part = await readPart(next, filter, limit, signal);
    // What is pending is never in history.
    if (!history || filter.status === 'pending') return await toPage(part, part.lookedAt);
    // Redis was read first. What moved meanwhile is found in history, and what is in both is shown as Redis has it.
    const { status, event, since, until } = filter;
    const query = { workspaceId, endpointId, status, event, since, until, after, upTo: part.next, limit };
    const past = await whileAvailable(history.list(query), part.entries.length > 0 || part.next !== undefined);
    if (!past) {
      const next = part.next ?? part.entries.at(-1);
      return await toPage(
        { entries: part.entries, ...(next && { next: { at: next.at, id: next.id } }) },
        part.lookedAt,
        true,
      );
    }
    const moved = past.found.filter(({ delivery }) => !part.looked.has(delivery.id));
    const entries = await withLast(await Promise.all(moved.map(toEntry)), filter);
    const wanted = entries.filter((entry) => matches(entry, filter));
    const merged = mergeParts([part, { entries: wanted, ...(past.next && { next: past.next }) }], limit);
    return await toPage(merged, part.lookedAt + moved.length);
  };

  /** Receivers of a workspace, those included that were removed lately. */
  const findReceivers = async (workspaceId: WorkspaceId): Promise<EndpointId[]> => {
    const { receivers, removedReceivers } = keyspace.of(workspaceId);
    const both = [receivers(workspaceId), removedReceivers(workspaceId)];
    return (await Promise.all(both.map((key) => redis.zrange(key, 0, '-1')))).flat();
  };

  /**
   * The deliveries of a transition. Their ids follow from it and from the endpoints, which Redis knows while it has it;
   * then they may be any of the workspace's.
   */
  const readTransition = async (workspaceId: WorkspaceId, id: TransitionId, filter: WorkspaceFilter) => {
    const [owner, known] = await redis.hmget(keyspace.of(workspaceId).transition(id), 'ws', 'eps');
    const present = owner === workspaceId && known ? known.split(',') : [];
    const endpoints = present.length > 0 || !history ? present : await findReceivers(workspaceId);
    const ids = endpoints.map((endpointId) => deliveryIdOf(id, endpointId));
    const find = async (each: string): Promise<ListEntry[]> => {
      const found = await reader.read(workspaceId, each);
      if (found) return [{ at: found.delivery.createdAt, id: each, ...found }];
      const past = await history?.find(workspaceId, each);
      if (!past) return [];
      const { delivery } = past;
      return [{ at: delivery.createdAt, id: each, delivery, past: toListedPast(past) }];
    };
    const found = (await Promise.all(ids.map(find))).flat();
    const entries = (await withLast(found, filter)).filter((entry) => matches(entry, filter));
    return await toPage({ entries }, ids.length);
  };

  /** The logs of a workspace, or that of one of its endpoints: none when it has no such endpoint. */
  const findLogs = async (workspaceId: WorkspaceId, endpointId?: EndpointId): Promise<DeliveriesLog[]> => {
    const keys = keyspace.of(workspaceId);
    const receivers = await findReceivers(workspaceId);
    if (endpointId === undefined) {
      return [...receivers.map((id) => logOf(keys, id)), { log: keys.callbackLog(workspaceId), hasEnded: true }];
    }
    const isOwn = receivers.includes(endpointId) || (await redis.hget(keys.endpoint(endpointId), 'ws')) === workspaceId;
    return isOwn ? [logOf(keys, endpointId)] : [];
  };

  return {
    /** An endpoint's deliveries, newest first. */
    async listByEndpoint(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      filter: DeliveryFilter,
      limit: number,
      after?: ListPlace,
      signal?: AbortSignal,
    ): Promise<DeliveryPage> {
      const log = logOf(keyspace.of(workspaceId), endpointId);
      return await readLogs(workspaceId, [log], { ...filter, endpointId }, limit, after, signal);
    },

    /**
     * A workspace's deliveries, newest first: to its receivers, also to removed ones, and to callbacks. Those of one
     * Task come in the order of its transitions.
     */
    async listByWorkspace(
      workspaceId: WorkspaceId,
      filter: WorkspaceFilter,
      limit: number,
      after?: ListPlace,
      signal?: AbortSignal,
    ): Promise<DeliveryPage> {
      const { receiver, task, transitionId } = filter;
      if (transitionId !== undefined) return await readTransition(workspaceId, transitionId, filter);
      if (task === undefined) {
        const logs = await findLogs(workspaceId, receiver);
        return await readLogs(workspaceId, logs, { ...filter, endpointId: receiver }, limit, after, signal);
      }
      const before = after === undefined ? undefined : after.at + 1;
      const found = await tasks.listTransitions(workspaceId, task, TASK_TRANSITIONS, before);
      const taskReader = createTaskReader(tasks, workspaceId, task, found?.transitions ?? NONE, after);
      const next = async (count: number) => await withLast(await taskReader.next(count), filter);
      const part = await readPart(next, filter, limit, signal);
      return await toPage(part, part.lookedAt + (found?.lookedAt ?? 0), taskReader.isPartial());
    },

    /**
     * A Task's deliveries, to receivers and to its callback, newest first: those of `limit` transitions. Undefined: the
     * workspace has no such Task.
     */
    async listByTask(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      limit: number,
      after?: ListPlace,
      signal?: AbortSignal,
    ): Promise<DeliveryPage | undefined> {
      const found = await tasks.listTransitions(workspaceId, taskId, limit + 1, after?.at);
      if (!found) return undefined;
      const page = take(found.transitions, limit);
      signal?.throwIfAborted();
      const { entries, isPartial } = await tasks.read(workspaceId, taskId, page);
      const last = page.at(-1);
      const next = !found.transitions.next().done && last ? { at: last.sequence, id: '' } : undefined;
      return await toPage({ entries, ...(next && { next }) }, found.lookedAt + entries.length, isPartial);
    },
  };
}

/** Facts of a Task that cost what it costs to look at one record. */
const FACTS_OF_A_RECORD = 10;

/** A fact of a Task that emitted. Its place in the Task is its sequence. */
type EmittedFact = { readonly key: string; readonly sequence: number };

/** The facts of a Task that emitted, newest first: those before this sequence. */
export async function readEmittedFacts(redis: RedisClient, keys: ShardKeys, taskId: TaskId, beforeSequence = Infinity) {
  return Object.entries(await redis.hgetall(keys.facts(taskId)))
    .map(([key, value]): EmittedFact => ({ key, sequence: readFactValue(value).sequence }))
    .filter(({ sequence }) => sequence > 0 && sequence < beforeSequence)
    .sort((a, b) => b.sequence - a.sequence);
}

type TaskDeliveriesDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly reader: DeliveryReader;
  readonly history?: HistoryReader | undefined;
};

/** `lookedAt`: as many records as it cost to find them. */
type FoundTransitions = { readonly transitions: Iterator<PastSequence>; readonly lookedAt: number };

const NONE: Iterator<PastSequence> = [][Symbol.iterator]();

/** The next ones, at most so many. */
function take<T>(from: Iterator<T>, count: number): T[] {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = from.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

/** Their transitions. An id costs a hash, and a Task may have thousands: each is made when it is asked for. */
function* transitionsOf(taskId: TaskId, facts: readonly EmittedFact[]): Generator<PastSequence, void> {
  for (const { key, sequence } of facts) {
    const transitionId = transitionIdOfFact(taskId, key);
    if (transitionId !== undefined) yield { sequence, transitionId };
  }
}

/** `isPartial`: history couldn't be read, and may have more of them. */
type TaskEntries = { readonly entries: readonly ListEntry[]; readonly isPartial: boolean };

/** The deliveries of Tasks. The place of each is the sequence of its transition, and its id. */
function createTaskDeliveries({ redis, keyspace, reader, history }: TaskDeliveriesDeps) {
  /** What Redis has of a transition, in the order in which its endpoints were chosen. */
  const readPresent = async (workspaceId: WorkspaceId, { transitionId, sequence }: PastSequence) => {
    const endpoints = await redis.hget(keyspace.of(workspaceId).transition(transitionId), 'eps');
    const ids = endpoints ? endpoints.split(',').map((endpointId) => deliveryIdOf(transitionId, endpointId)) : [];
    const found = await Promise.all(ids.map((id) => reader.read(workspaceId, id)));
    const entries = found.flatMap((present): ListEntry[] =>
      present ? [{ at: sequence, id: present.delivery.id, ...present }] : [],
    );
    return { entries, isWhole: ids.length > 0 && entries.length === ids.length };
  };

  return {
    /**
     * The transitions of a Task before this sequence, newest first; at most `limit` of them when only history knows the
     * Task. Undefined: the workspace has no such Task.
     */
    async listTransitions(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      limit: number,
      before?: number,
    ): Promise<FoundTransitions | undefined> {
      const keys = keyspace.of(workspaceId);
      if ((await redis.hget(keys.task(taskId), 'ws')) === workspaceId) {
        const facts = await readEmittedFacts(redis, keys, taskId, before);
        const lookedAt = Math.floor(facts.length / FACTS_OF_A_RECORD);
        return { transitions: transitionsOf(taskId, facts), lookedAt };
      }
      if (!history) return undefined;
      const found = await history.listSequences(workspaceId, taskId, limit, before);
      const isKnown =
        found.length > 0 || (before !== undefined && (await history.listSequences(workspaceId, taskId, 1)).length > 0);
      return isKnown ? { transitions: found[Symbol.iterator](), lookedAt: 0 } : undefined;
    },
    /** The deliveries of these transitions, in their order. */
    async read(workspaceId: WorkspaceId, taskId: TaskId, transitions: readonly PastSequence[]): Promise<TaskEntries> {
      const present = await Promise.all(transitions.map((each) => readPresent(workspaceId, each)));
      const parts = new Map<TransitionId, ListEntry[]>(
        transitions.map(({ transitionId }, index) => [transitionId, present[index]?.entries ?? []]),
      );
      const toEntries = (isPartial: boolean) => ({ entries: [...parts.values()].flat(), isPartial });
      const split = transitions.filter((_, index) => !present[index]?.isWhole);
      if (!history || split.length === 0) return toEntries(false);
      // Redis was read first: what has left it since then is in history.
      const ids = split.map(({ transitionId }) => transitionId);
      const hasSome = [...parts.values()].some(({ length }) => length > 0);
      const past = await whileAvailable(history.listOfTransitions(workspaceId, taskId, ids), hasSome);
      const sequences = new Map(split.map(({ transitionId, sequence }) => [transitionId, sequence]));
      for (const each of past ?? []) {
        const { id, transitionId } = each.delivery;
        const part = parts.get(transitionId);
        if (!part || part.some((entry) => entry.id === id)) continue;
        part.push({ at: sequences.get(transitionId) ?? 0, id, delivery: each.delivery, past: each });
      }
      return toEntries(past === undefined);
    },
  };
}
type TaskDeliveries = ReturnType<typeof createTaskDeliveries>;

/**
 * Reads a Task's deliveries, newest transition first and then by id, from a place on.
 * @param left newest first, without those in front of the place
 */
function createTaskReader(
  tasks: Pick<TaskDeliveries, 'read'>,
  workspaceId: WorkspaceId,
  taskId: TaskId,
  left: Iterator<PastSequence>,
  after?: ListPlace,
) {
  const unread: ListEntry[] = [];
  let isPartial = false;
  return {
    /** Whether history couldn't be read in between. */
    isPartial: () => isPartial,
    /** The next entries; fewer than `count` are the last ones. */
    async next(count: number): Promise<ListEntry[]> {
      while (unread.length < count) {
        const transitions = take(left, count);
        if (transitions.length === 0) break;
        const some = await tasks.read(workspaceId, taskId, transitions);
        isPartial ||= some.isPartial;
        const entries = some.entries.filter((entry) => !after || isAfter(entry, after));
        unread.push(...entries.sort((a, b) => (isAfter(a, b) ? 1 : -1)));
      }
      return unread.splice(0, count);
    },
  };
}
