import { ID_PATTERNS, isCallbackId, taskIdOfCallback, type TaskId, type WorkspaceId } from '@herald/core';
import { walkReceivers } from '../endpoints/walk-endpoints.ts';
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

const RESULTS = 20;
/** Keys that a look for a host goes through, at most: some tens of ms of Redis' time, in steps. */
const KEYS_LOOKED_AT = 200_000;

/** Finds the workspace of a thing, for operators. Ids are looked up; a host is looked for among the receivers. */
export function createSearch({ redis, keyspace }: { readonly redis: RedisClient; readonly keyspace: Keyspace }) {
  const owners = createOwnerLookUp({ redis, keyspace });
  const toFound = (kind: Found['kind'], id: string, workspaceId: WorkspaceId | null | undefined): Found[] =>
    workspaceId == null ? [] : [{ kind, id, workspaceId, label: id }];

  /** Whether a workspace has, or has had, receivers or callbacks. */
  const isKnownWorkspace = async (id: WorkspaceId): Promise<boolean> => {
    const { receivers, subscriptionVersion, callbackLog } = keyspace.of(id);
    return (await redis.exists(receivers(id), subscriptionVersion(id), callbackLog(id))) > 0;
  };
  const findTask = async (id: TaskId) => toFound('task', id, await redis.get(GLOBAL_KEYS.taskWorkspace(id)));
  const findReceiver = async (id: string): Promise<Found[]> => {
    const workspaceId = await owners.ofEndpoint(id);
    if (workspaceId === undefined) return [];
    const url = await redis.hget(keyspace.of(workspaceId).endpoint(id), 'url');
    return [{ kind: 'receiver', id, workspaceId, label: hostOf(url ?? '') || id }];
  };
  const findHost = async (part: string): Promise<Found[]> => {
    const found = new Map<string, Found>();
    for await (const { receivers, looked } of walkReceivers(redis, keyspace)) {
      for (const { workspaceId, url } of receivers) {
        const host = hostOf(url);
        if (!host.includes(part)) continue;
        found.set(`${workspaceId} ${host}`, { kind: 'host', id: host, workspaceId, label: `${host}, ${workspaceId}` });
        if (found.size === RESULTS) return [...found.values()];
      }
      if (looked >= KEYS_LOOKED_AT) break;
    }
    return [...found.values()];
  };

  return {
    isKnownWorkspace,
    find: async (text: string): Promise<Found[]> => {
      const id = text.trim();
      if (ID_PATTERNS.delivery.test(id)) return toFound('delivery', id, await owners.ofDelivery(id));
      if (ID_PATTERNS.receiver.test(id)) return await findReceiver(id);
      const taskId = isCallbackId(id) ? taskIdOfCallback(id) : id;
      if (ID_PATTERNS.task.test(taskId)) return await findTask(taskId);
      const isWorkspace = ID_PATTERNS.workspace.test(id) && (await isKnownWorkspace(id));
      return [...(isWorkspace ? toFound('workspace', id, id) : []), ...(await findHost(id.toLowerCase()))];
    },
  };
}
export type Search = ReturnType<typeof createSearch>;

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
