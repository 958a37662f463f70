import { DeliveryEvent, type DeliveryId, type EndpointId, type WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { findWaitingFor } from '../ordering/find-waiting-for.ts';
import { createDeliveryLists } from './delivery-lists.ts';
import { createDeliveryReader, readAttempts, type ListedDelivery } from './delivery-reader.ts';
import { REDELIVER_LUA } from './redeliver-script.ts';

/** `removed`: its endpoint is gone. `erased`: its body is. */
export type RedeliverReply =
  | { readonly kind: 'pending'; readonly event: DeliveryEvent }
  | { readonly kind: 'missing' | 'removed' | 'erased' }
  | { readonly kind: 'disabled'; readonly endpointId: EndpointId };

const RedeliverText = z.tuple([z.enum(['pending', 'missing', 'removed', 'disabled', 'erased'])], z.string());

/** The deliveries of a workspace, as its API shows them, and the redelivery that it can ask for. */
export function createDeliveryLog(deps: ReplicatedStoreDeps & { readonly keyspace: Keyspace }) {
  const { redis, keyspace } = deps;
  const redeliver = defineReplicatedScript(deps, 'redeliver', REDELIVER_LUA);
  const reader = createDeliveryReader({ redis, keyspace });

  return {
    ...createDeliveryLists({ redis, keyspace, reader }),

    async find(workspaceId: WorkspaceId, id: DeliveryId) {
      const [delivery, attempts] = await Promise.all([
        reader.read(workspaceId, id),
        readAttempts(redis, keyspace.of(workspaceId), id),
      ]);
      if (!delivery) return undefined;
      const lastAttempt = attempts.at(-1);
      const waitingFor = await findWaitingFor(redis, keyspace.of(workspaceId), delivery);
      const listed: ListedDelivery = {
        ...delivery,
        ...(lastAttempt && { lastAttempt }),
        ...(waitingFor !== undefined && { waitingFor }),
      };
      return { delivery: listed, attempts };
    },

    readContent: reader.readContent,

    /** Asks for one more attempt of the delivery, and enqueues it. `now` is epoch ms. */
    async redeliver(workspaceId: WorkspaceId, id: DeliveryId, now: number): Promise<RedeliverReply> {
      const keys = keyspace.of(workspaceId);
      const reply = await redeliver([keys.delivery(id)], [keys.prefix, id, workspaceId, now]);
      const [kind, detail = ''] = RedeliverText.parse(reply);
      if (kind === 'pending') return { kind, event: DeliveryEvent.parse(detail) };
      if (kind === 'disabled') return { kind, endpointId: detail };
      return { kind };
    },
  };
}
export type DeliveryLog = ReturnType<typeof createDeliveryLog>;
