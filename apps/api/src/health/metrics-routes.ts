import type { Exposition } from '@herald/store/service-state/create-exposition';
import { Router } from 'express';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';

/** `/metrics`, for Prometheus; behind the guard of the operator pages. */
export function createMetricsRoutes({ contentType, render }: Exposition): Router {
  const router = Router();
  router
    .route('/')
    .get(async (_req, res) => {
      const text = await render();
      res.set('content-type', contentType).send(text);
    })
    .all(refuseOtherMethods('GET'));
  return router;
}
