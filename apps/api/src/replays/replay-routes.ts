import type { ReplayOperations } from '@herald/store/replays/create-replay-operations';
import { Router } from 'express';
import { workspaceOf } from '../http/caller.ts';
import { refuseMalformedIds } from '../http/refuse-malformed-ids.ts';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';
import { toReplayView } from './replay-view.ts';

/** `/api/public/replays`: how far a replay is, and its end. */
export function createReplayRoutes({ replays }: { readonly replays: ReplayOperations }): Router {
  const router = refuseMalformedIds(Router(), { id: 'replay' });
  router
    .route('/:id')
    .get(async (req, res) => {
      res.json(toReplayView(await replays.find(workspaceOf(req), req.params.id)));
    })
    .delete(async (req, res) => {
      res.json(toReplayView(await replays.stop(workspaceOf(req), req.params.id)));
    })
    .all(refuseOtherMethods('GET', 'DELETE'));
  return router;
}
