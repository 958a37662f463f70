import { NotFoundError } from '@herald/core';
import type { Redeliver } from '@herald/store/deliveries/create-redeliver';
import type { DeliveryLog } from '@herald/store/deliveries/delivery-log';
import { workspaceOf } from '../http/request-state.ts';
import { NoBody, operation, type KeyedRouteTable } from '../routing/operation.ts';
import { DeliveryView, DeliveryWithAttempts, toAttemptView, toDeliveryView } from './delivery-view.ts';

export type DeliveryRoutesDeps = { readonly deliveryLog: DeliveryLog; readonly redeliver: Redeliver };

/** One delivery, to a receiver or a callback, and its redelivery. */
export const DELIVERY_ROUTES: KeyedRouteTable<DeliveryRoutesDeps> = {
  tag: 'Deliveries',
  path: '/api/public/deliveries',
  scope: 'webhooks',
  ids: { id: 'delivery' },
  operations: [
    operation('readDelivery', 'GET /{id}', {
      summary: 'Read a delivery with its attempts',
      answer: { status: 200, description: 'The delivery.', schema: DeliveryWithAttempts },
      async handle({ deliveryLog }, req, res) {
        const found = await deliveryLog.find(workspaceOf(req), req.params.id);
        if (!found) throw new NotFoundError('delivery', req.params.id);
        res.json({ ...toDeliveryView(found.delivery), attempts: found.attempts.map(toAttemptView) });
      },
    }),
    operation('redeliver', 'POST /{id}/redeliver', {
      summary: 'Make one more attempt now',
      description:
        'Sends the same bytes under the same delivery id. After the 202, the attempt is made even if processes crash.',
      body: NoBody,
      answer: { status: 202, description: 'The delivery, with one more pending redelivery.', schema: DeliveryView },
      problems: ['receiver_not_found', 'receiver_disabled', 'payload_erased'],
      async handle({ redeliver }, req, res) {
        res.json(toDeliveryView(await redeliver(workspaceOf(req), req.params.id)));
      },
    }),
  ],
};
