import { ListWorkspaceDeliveries, namedEndpoint, NotFoundError } from '@herald/core';
import type { Redeliver, DeliveryLog } from '@herald/store/lists/delivery-log';
import type { ActivityReader } from '@herald/store/stats/activity-reader';
import { readCursor } from '../http/answer-fields.ts';
import { workspaceOf } from '../http/request-state.ts';
import type { PriceLists } from '../http/rate-limit.ts';
import { NoBody, operation, type KeyedRouteTable } from '../http/operation.ts';
import {
  DeliveryPage,
  DeliveryView,
  DeliveryWithAttempts,
  MAY_BE_PARTIAL,
  sinceLook,
  toAttemptView,
  toDeliveryPage,
  toDeliveryView,
  toRequestView,
} from './delivery-view.ts';

export type DeliveryRoutesDeps = {
  readonly deliveryLog: DeliveryLog;
  readonly readPriced: PriceLists;
  readonly activity: ActivityReader;
  readonly redeliver: Redeliver;
  /** Epoch ms. */
  readonly now: () => number;
};

/** The deliveries of a workspace, to its receivers and to callbacks, and the redelivery of one. */
export const DELIVERY_ROUTES: KeyedRouteTable<DeliveryRoutesDeps> = {
  tag: 'Deliveries',
  path: '/api/public/deliveries',
  access: 'webhooks',
  forPortalLinks: true,
  ids: { id: 'delivery' },
  operations: [
    operation('listDeliveries', 'GET /', {
      summary: 'List the deliveries of the workspace',
      description: `Newest first, to receivers (also to those removed lately) and to callbacks. A filter may leave a page short, or empty, and the next page has more: go on until \`nextCursor\` is null. With another filter, begin without a cursor. For what has come since, keep the \`sinceCursor\` of the first page. ${MAY_BE_PARTIAL}`,
      query: ListWorkspaceDeliveries,
      answer: { status: 200, description: 'A page.', schema: DeliveryPage },
      problems: ['receiver_not_found', 'history_unavailable'],
      async handle({ deliveryLog, readPriced, activity, now }, req, res, { limit, cursor, taskId, task, ...query }) {
        const lookedAt = now();
        const { receiverId: _receiverId, callbackId: _callbackId, receiver: _receiver, ...same } = sinceLook(query);
        const [endpoint, about] = [namedEndpoint(query), taskId ?? task];
        const filter = {
          ...same,
          ...(endpoint !== undefined && { receiver: endpoint }),
          ...(about !== undefined && { task: about }),
        };
        const after = readCursor(cursor);
        const page = await readPriced(req, res, (signal: AbortSignal) =>
          deliveryLog.listByWorkspace(workspaceOf(req), filter, limit, after, signal),
        );
        // What was sent to a receiver that was removed lately is still listed.
        if (page.deliveries.length === 0 && !page.next && endpoint !== undefined)
          if ((await activity.readVersion(workspaceOf(req), endpoint)) === undefined)
            throw new NotFoundError('receiver', endpoint);
        return toDeliveryPage(page, cursor === undefined ? lookedAt : undefined);
      },
    }),
    operation('readDelivery', 'GET /{id}', {
      summary: 'Read a delivery: its request and its attempts',
      answer: { status: 200, description: 'The delivery.', schema: DeliveryWithAttempts },
      problems: ['history_unavailable'],
      async handle({ deliveryLog }, req) {
        const found = await deliveryLog.find(workspaceOf(req), req.params.id);
        if (!found) throw new NotFoundError('delivery', req.params.id);
        const { delivery, attempts } = found;
        const request = toRequestView(delivery, await deliveryLog.readContent(delivery));
        return { ...toDeliveryView(delivery), request, attempts: attempts.map(toAttemptView) };
      },
    }),
    operation('redeliverDelivery', 'POST /{id}/redeliver', {
      audit: 'path',
      summary: 'Make one more attempt now',
      description:
        'Sends the same bytes under the same delivery id. After the 202, the attempt is made even if processes crash. It ' +
        'stands beside the schedule: a success makes the delivery `delivered`, a failure leaves its status, `tries` and ' +
        '`nextAttemptAt`.',
      body: NoBody,
      answer: { status: 202, description: 'The delivery, with one more pending redelivery.', schema: DeliveryView },
      problems: [
        'receiver_not_found',
        'receiver_disabled',
        'receiver_locked',
        'payload_erased',
        'payload_not_kept',
        'workspace_full',
        'history_unavailable',
      ],
      async handle({ redeliver }, req) {
        return toDeliveryView(await redeliver(workspaceOf(req), req.params.id));
      },
    }),
  ],
};
