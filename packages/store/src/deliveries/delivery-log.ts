import {
  DeliveryEvent,
  WorkspaceFullError,
  type DeliveryId,
  type EndpointId,
  type HistoryReader,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import type { Keyspace } from '../keys/keys.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../stats/workspace-accounts.ts';
import { createDeliveryLists } from './delivery-lists.ts';
import { createDeliveryReader } from './delivery-reader.ts';
import { REDELIVER_LUA } from './redeliver-script.ts';
import { toRestored } from './restored-delivery.ts';

/** `removed`: its endpoint is gone. `erased`: its body is. `not_kept`: history has no body of it. */
export type RedeliverReply =
  | { readonly kind: 'pending'; readonly event: DeliveryEvent }
  | { readonly kind: 'missing' | 'removed' | 'erased' | 'not_kept' }
  | { readonly kind: 'disabled'; readonly endpointId: EndpointId }
  | { readonly kind: 'locked'; readonly endpointId: EndpointId; readonly reason: string };

const RedeliverText = z.tuple(
  [z.enum(['pending', 'missing', 'removed', 'disabled', 'locked', 'erased', 'not_kept', 'no_room'])],
  z.string(),
);

export type DeliveryLogDeps = ReplicatedStoreDeps &
  RoomDeps & {
    readonly keyspace: Keyspace;
    /** Absent: nothing leaves Redis but what is over. */
    readonly history?: HistoryReader | undefined;
  };

/** The deliveries of a workspace, as its API shows them, and the redelivery that it can ask for. */
export function createDeliveryLog(deps: DeliveryLogDeps) {
  const { redis, keyspace, history, limits = NO_LIMITS, findRefusal } = deps;
  const redeliver = defineReplicatedScript(deps, REDELIVER_LUA);
  const reader = createDeliveryReader({ redis, keyspace, history });

  /** What the script needs to bring a delivery back from history. */
  const readPast = async (workspaceId: WorkspaceId, id: DeliveryId): Promise<string[]> => {
    const past = await history?.find(workspaceId, id);
    const transition = past && (await history?.findTransition(past.delivery));
    return past && transition ? [toRestored(past, transition), transition.body ?? ''] : [];
  };

  return {
    ...createDeliveryLists({ redis, keyspace, reader, history }),
    find: (workspaceId: WorkspaceId, id: DeliveryId) => reader.find(workspaceId, id),
    readContent: reader.readContent,

    /**
     * Asks for one more attempt of the delivery, and enqueues it. One that has left Redis comes back in the same step.
     * `now` is epoch ms.
     * @throws WorkspaceFullError or UnavailableError: Redis has no room for it
     */
    async redeliver(workspaceId: WorkspaceId, id: DeliveryId, now: number): Promise<RedeliverReply> {
      const keys = keyspace.of(workspaceId);
      const refusal = findRefusal?.(workspaceId);
      if (refusal) throw refusal;
      const args = [keys.prefix, id, workspaceId, now, JSON.stringify(limits)];
      const run = async (past: readonly string[]) =>
        RedeliverText.parse(await redeliver([keys.delivery(id)], [...args, ...past]));
      const reply = await run([]);
      const past = reply[0] === 'missing' ? await readPast(workspaceId, id) : [];
      const [kind, detail = '', reason = ''] = past.length > 0 ? await run(past) : reply;
      if (kind === 'pending') return { kind, event: DeliveryEvent.parse(detail) };
      if (kind === 'no_room') {
        const of = LimitName.parse(detail);
        throw new WorkspaceFullError(of, limits[of]);
      }
      if (kind === 'disabled') return { kind, endpointId: detail };
      if (kind === 'locked') return { kind, endpointId: detail, reason };
      return { kind };
    },
  };
}
export type DeliveryLog = ReturnType<typeof createDeliveryLog>;
