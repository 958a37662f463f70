import { EVENT_NAMES, PatchReceiver, RegisterReceiver, type EndpointId, type WorkspaceId } from '@herald/core';
import { Router } from 'express';
import { workspaceOf } from '../auth/authenticate.ts';
import { NoBody, readBody } from '../http/read-body.ts';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';
import type { ManageReceivers } from './manage-receivers.ts';
import { toReceiverView } from './receiver-view.ts';
import type { TestOutcome } from './send-test-event.ts';

export type ReceiverRoutesDeps = {
  readonly receivers: ManageReceivers;
  readonly sendTestEvent: (workspaceId: WorkspaceId, id: EndpointId) => Promise<TestOutcome>;
};

/** `/api/public/webhooks` (spec section 4). */
export function createReceiverRoutes({ receivers, sendTestEvent }: ReceiverRoutesDeps): Router {
  const router = Router();
  router
    .route('/')
    .get(async (req, res) => {
      const list = await receivers.list(workspaceOf(req));
      res.json({ webhooks: list.map(toReceiverView), events: EVENT_NAMES });
    })
    .post(async (req, res) => {
      const { receiver, secret } = await receivers.register(workspaceOf(req), readBody(RegisterReceiver, req));
      res.status(201).location(`${req.baseUrl}/${receiver.id}`).set('cache-control', 'no-store');
      res.json({ ...toReceiverView(receiver), secret });
    })
    .all(refuseOtherMethods('GET', 'POST'));
  router
    .route('/:id')
    .get(async (req, res) => {
      res.json(toReceiverView(await receivers.find(workspaceOf(req), req.params.id)));
    })
    .patch(async (req, res) => {
      res.json(toReceiverView(await receivers.patch(workspaceOf(req), req.params.id, readBody(PatchReceiver, req))));
    })
    .delete(async (req, res) => {
      await receivers.remove(workspaceOf(req), req.params.id);
      res.json({ deleted: true });
    })
    .all(refuseOtherMethods('GET', 'PATCH', 'DELETE'));
  router
    .route('/:id/test')
    .post(async (req, res) => {
      readBody(NoBody, req);
      res.json(await sendTestEvent(workspaceOf(req), req.params.id));
    })
    .all(refuseOtherMethods('POST'));
  return router;
}
