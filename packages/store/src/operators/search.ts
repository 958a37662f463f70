import {
  ID_PATTERNS,
  isCallbackId,
  taskIdOfCallback,
  TransitionIdText,
  type DeliveryId,
  type EndpointId,
  type HistoryReader,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { walkEndpoints } from '../endpoints/receiver-store.ts';
import { GLOBAL_KEYS, PLATFORM_OWNER, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** What a search found. Of a host, the id is the host. */
type Found = {
  readonly kind: 'workspace' | 'receiver' | 'delivery' | 'task' | 'host';
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly label: string;
};

/** `isComplete`: there is nothing else. */
type SearchResult = { readonly found: readonly Found[]; readonly isComplete: boolean };

const RESULTS = 20;
/** How long a look for a part of a name goes on, in ms. It goes in steps of a few ms, and others are served between them. */
const HOST_LOOK_MS = 2_000;

type SearchDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly hostLookMs?: number;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: Pick<HistoryReader, 'findOwner' | 'findOwnerOfTask'> | undefined;
};

/**
 * Finds the workspace of a thing, for operators. Ids are looked up; a part of a host or of a workspace is looked for among the
 * receivers, and among the workspaces that hold something.
 */
export function createSearch({ redis, keyspace, history, hostLookMs = HOST_LOOK_MS }: SearchDeps) {
  const owners = createOwnerLookUp({ redis, keyspace, history });
  const toFound = (kind: Found['kind'], id: string, workspaceId: WorkspaceId | null | undefined): Found[] =>
    workspaceId == null ? [] : [{ kind, id, workspaceId, label: id }];

  /** Whether a workspace has, or has had, receivers or callbacks. */
  const isKnownWorkspace = async (id: WorkspaceId): Promise<boolean> => {
    const { receivers, subscriptionVersion, callbackLog, logSegments } = keyspace.of(id);
    const log = callbackLog(id);
    return (await redis.exists(receivers(id), subscriptionVersion(id), log, logSegments(log))) > 0;
  };
  const findTask = async (id: TaskId) =>
    toFound('task', id, (await redis.get(GLOBAL_KEYS.taskWorkspace(id))) ?? (await history?.findOwnerOfTask(id)));
  /** The Task of a transition: the `id` of every body that a customer gets. Nothing in it names its shard. */
  const findTransition = async (id: string): Promise<Found[]> => {
    const rows = await Promise.all(keyspace.shards.map(({ transition }) => redis.hmget(transition(id), 'ws', 'task')));
    return rows.flatMap(([workspaceId, taskId]) => (taskId == null ? [] : toFound('task', taskId, workspaceId)));
  };
  const findReceiver = async (id: string): Promise<Found[]> => {
    const workspaceId = await owners.ofEndpoint(id);
    if (workspaceId === undefined) return [];
    const url = await redis.hget(keyspace.of(workspaceId).endpoint(id), 'url');
    return [{ kind: 'receiver', id, workspaceId, label: hostOf(url ?? '') || id }];
  };
  /** Workspaces with Tasks or deliveries, some thousand at a time. */
  async function* walkHolders(): AsyncGenerator<readonly WorkspaceId[]> {
    for (const key of keyspace.shards.flatMap(({ held, pending }) => [held, pending])) {
      for (let cursor = '0', isLast = false; !isLast; isLast = cursor === '0') {
        const [next, entries] = await redis.zscan(key, cursor, 'COUNT', 1_000);
        cursor = next;
        yield entries.filter((_, index) => index % 2 === 0);
      }
    }
  }
  /** No index knows parts of names, so it goes through the keys until the time is up, or enough is found. */
  const findPart = async (part: string): Promise<SearchResult> => {
    const found = new Map<string, Found>();
    const endsAt = performance.now() + hostLookMs;
    const isEnough = () => found.size >= RESULTS || performance.now() >= endsAt;
    const cut = () => ({ found: [...found.values()].slice(0, RESULTS), isComplete: false });
    const noteWorkspace = (id: WorkspaceId) => {
      if (id.endsWith(PLATFORM_OWNER) || !id.toLowerCase().includes(part)) return;
      found.set(id, { kind: 'workspace', id, workspaceId: id, label: id });
    };
    for await (const ids of walkHolders()) {
      for (const id of ids) noteWorkspace(id);
      if (isEnough()) return cut();
    }
    for await (const { endpoints } of walkEndpoints(redis, keyspace)) {
      const receivers = endpoints.filter(({ id }) => id.startsWith('wh'));
      const rows = await Promise.all(receivers.map(({ keys, id }) => redis.hmget(keys.endpoint(id), 'ws', 'url')));
      for (const [workspaceId, url] of rows) {
        const host = hostOf(url ?? '');
        if (workspaceId == null) continue;
        noteWorkspace(workspaceId);
        if (!host.includes(part)) continue;
        found.set(`${workspaceId} ${host}`, { kind: 'host', id: host, workspaceId, label: `${host}, ${workspaceId}` });
      }
      if (isEnough()) return cut();
    }
    return { found: [...found.values()], isComplete: true };
  };

  return {
    isKnownWorkspace,
    find: async (text: string): Promise<SearchResult> => {
      const id = text.trim();
      const complete = (found: readonly Found[]) => ({ found, isComplete: true });
      if (ID_PATTERNS.delivery.test(id)) return complete(toFound('delivery', id, await owners.ofDelivery(id)));
      if (ID_PATTERNS.receiver.test(id)) return complete(await findReceiver(id));
      if (TransitionIdText.safeParse(id).success) return complete(await findTransition(id));
      const taskId = isCallbackId(id) ? taskIdOfCallback(id) : id;
      if (ID_PATTERNS.task.test(taskId)) return complete(await findTask(taskId));
      const isWorkspace = ID_PATTERNS.workspace.test(id) && (await isKnownWorkspace(id));
      const { found, isComplete } = await findPart(id.toLowerCase());
      // The one of exactly this name goes first.
      const others = found.filter((each) => each.kind !== 'workspace' || each.id !== id);
      const isNamed = isWorkspace || others.length < found.length;
      return { found: [...(isNamed ? toFound('workspace', id, id) : []), ...others], isComplete };
    },
  };
}
export type Search = ReturnType<typeof createSearch>;

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}

type OwnerLookUpDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: Pick<HistoryReader, 'findOwner'> | undefined;
};

/** Finds the workspace that an id belongs to, for operators, who have only the id. One small read per shard. */
export function createOwnerLookUp({ redis, keyspace, history }: OwnerLookUpDeps) {
  const findIn = async (read: (keys: ShardKeys) => Promise<string | null>) => {
    const found = await Promise.all(keyspace.shards.map(read));
    return found.find((workspaceId) => workspaceId !== null);
  };
  return {
    /** The workspace of a receiver or a callback. */
    ofEndpoint: (id: EndpointId) => findIn((keys) => redis.hget(keys.endpoint(id), 'ws')),
    ofDelivery: async (id: DeliveryId) => {
      const owner = await findIn(async (keys) => {
        const transitionId = await redis.hget(keys.delivery(id), 'x');
        return transitionId === null ? null : await redis.hget(keys.transition(transitionId), 'ws');
      });
      return owner ?? (await history?.findOwner(id));
    },
    /** Of one that Redis has. */
    ofTransition: (id: TransitionId) => findIn((keys) => redis.hget(keys.transition(id), 'ws')),
    ofReplay: (id: string) => findIn((keys) => redis.hget(keys.replay(id), 'ws')),
  };
}
