import {
  EVENT_NAMES,
  ListDeliveries,
  PatchReceiver,
  RegisterReceiver,
  RequestReplay,
  RotateSecret,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import type { ReplayOperations } from '@herald/store/replays/create-replay-operations';
import { Router } from 'express';
import { workspaceOf } from '../http/caller.ts';
import { toDeliveryView } from '../deliveries/delivery-view.ts';
import type { ManageDeliveries } from '../deliveries/manage-deliveries.ts';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { NoBody, readBody, readQuery } from '../http/read-body.ts';
import { refuseMalformedIds } from '../http/refuse-malformed-ids.ts';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';
import { sendRotatedSecret } from '../http/send-rotated-secret.ts';
import { REPLAYED } from '../idempotency/kept-answer.ts';
import { seedOf } from '../idempotency/seed-of.ts';
import { toReplayView } from '../replays/replay-view.ts';
import type { ManageReceivers } from './manage-receivers.ts';
import { toReceiverView } from './receiver-view.ts';
import type { TestOutcome } from './test-outcome-view.ts';

export type ReceiverRoutesDeps = {
  readonly receivers: ManageReceivers;
  readonly deliveries: ManageDeliveries;
  readonly replays: ReplayOperations;
  readonly sendTestEvent: (workspaceId: WorkspaceId, id: EndpointId) => Promise<TestOutcome>;
};

/** `/api/public/webhooks` (spec section 4). */
export function createReceiverRoutes(deps: ReceiverRoutesDeps): Router {
  const { receivers, deliveries, replays, sendTestEvent } = deps;
  const router = refuseMalformedIds(Router(), { id: 'receiver' });
  router
    .route('/')
    .get(async (req, res) => {
      const list = await receivers.list(workspaceOf(req));
      res.json({ webhooks: list.map(toReceiverView), events: EVENT_NAMES });
    })
    .post(async (req, res) => {
      const request = readBody(RegisterReceiver, req);
      const { receiver, secret } = await receivers.register(workspaceOf(req), request, seedOf(req));
      if (secret === undefined) res.set(REPLAYED, 'true');
      res.status(201).location(`${req.baseUrl}/${receiver.receiver.id}`).set('cache-control', 'no-store');
      res.json({ ...toReceiverView(receiver), ...(secret !== undefined && { secret }) });
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
  router
    .route('/:id/secret/rotate')
    .post(async (req, res) => {
      const request = readBody(RotateSecret, req);
      const { receiver } = await receivers.find(workspaceOf(req), req.params.id);
      sendRotatedSecret(res, await receivers.rotateSecret(receiver.workspaceId, receiver.id, request));
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/:id/deliveries')
    .get(async (req, res) => {
      const query = readQuery(ListDeliveries, req);
      const after = readCursor(query.cursor);
      const page = await deliveries.listByReceiver(
        workspaceOf(req),
        req.params.id,
        query,
        after && { createdAt: after.at, id: after.id },
      );
      const nextCursor = page.next ? writeCursor({ at: page.next.createdAt, id: page.next.id }) : null;
      res.json({ deliveries: page.deliveries.map(toDeliveryView), nextCursor });
    })
    .all(refuseOtherMethods('GET'));
  router
    .route('/:id/replay')
    .post(async (req, res) => {
      const request = readBody(RequestReplay, req);
      const { receiver } = await receivers.find(workspaceOf(req), req.params.id);
      const replay = await replays.request(receiver.workspaceId, receiver.id, request, seedOf(req));
      res.status(202).location(`/api/public/replays/${replay.id}`).json(toReplayView(replay));
    })
    .all(refuseOtherMethods('POST'));
  return router;
}
