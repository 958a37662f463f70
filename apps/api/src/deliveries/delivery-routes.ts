import { Router } from 'express';
import { workspaceOf } from '../http/caller.ts';
import { NoBody, readBody } from '../http/read-body.ts';
import { refuseMalformedIds } from '../http/refuse-malformed-ids.ts';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';
import { toAttemptView, toDeliveryView } from './delivery-view.ts';
import type { ManageDeliveries } from './manage-deliveries.ts';

export type DeliveryRoutesDeps = { readonly deliveries: ManageDeliveries };

/** `/api/public/deliveries`: one delivery, to a receiver or a callback, and its redelivery. */
export function createDeliveryRoutes({ deliveries }: DeliveryRoutesDeps): Router {
  const router = refuseMalformedIds(Router(), { id: 'delivery' });
  router
    .route('/:id')
    .get(async (req, res) => {
      const { delivery, attempts } = await deliveries.find(workspaceOf(req), req.params.id);
      res.json({ ...toDeliveryView(delivery), attempts: attempts.map(toAttemptView) });
    })
    .all(refuseOtherMethods('GET'));
  router
    .route('/:id/redeliver')
    .post(async (req, res) => {
      readBody(NoBody, req);
      res.status(202).json(toDeliveryView(await deliveries.redeliver(workspaceOf(req), req.params.id)));
    })
    .all(refuseOtherMethods('POST'));
  return router;
}
