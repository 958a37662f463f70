import {
  type HistoryReader,
  ID_PATTERNS,
  isCallbackId,
  type TaskId,
  taskIdOfCallback,
  TransitionIdText,
  type WorkspaceId,
} from '@herald/core';
import { walkEndpoints } from '../endpoints/walk-endpoints.ts';
import { GLOBAL_KEYS, type Keyspace } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createOwnerLookUp } from './owner-look-up.ts';

/** What a search found. Of a host, the id is the host. */
export type Found = {
  readonly kind: 'workspace' | 'receiver' | 'delivery' | 'task' | 'host';
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly label: string;
};

/** `isComplete`: there is nothing else. */
export type SearchResult = { readonly found: readonly Found[]; readonly isComplete: boolean };

const RESULTS = 20;
/** How long a look for a host goes on, in ms. It goes in steps of a few ms, and others are served between them. */
const HOST_LOOK_MS = 2_000;

export type SearchDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly hostLookMs?: number;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: Pick<HistoryReader, 'findOwner' | 'findOwnerOfTask'> | undefined;
};

/** Finds the workspace of a thing, for operators. Ids are looked up; a host is looked for among the receivers. */
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
  /** No index knows the hosts, so it goes through the keys until the time is up, or enough is found. */
  const findHost = async (part: string): Promise<SearchResult> => {
    const found = new Map<string, Found>();
    const endsAt = performance.now() + hostLookMs;
    for await (const { endpoints } of walkEndpoints(redis, keyspace)) {
      const receivers = endpoints.filter(({ id }) => id.startsWith('wh'));
      const rows = await Promise.all(receivers.map(({ keys, id }) => redis.hmget(keys.endpoint(id), 'ws', 'url')));
      for (const [workspaceId, url] of rows) {
        const host = hostOf(url ?? '');
        if (workspaceId == null || !host.includes(part)) continue;
        found.set(`${workspaceId} ${host}`, { kind: 'host', id: host, workspaceId, label: `${host}, ${workspaceId}` });
      }
      if (found.size >= RESULTS || performance.now() >= endsAt) {
        return { found: [...found.values()].slice(0, RESULTS), isComplete: false };
      }
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
      const hosts = await findHost(id.toLowerCase());
      return { ...hosts, found: [...(isWorkspace ? toFound('workspace', id, id) : []), ...hosts.found] };
    },
  };
}
export type Search = ReturnType<typeof createSearch>;

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
