import type { Readiness } from '@herald/infra';
import { Router } from 'express';

export type HealthRoutesDeps = { readonly readReadiness: () => Promise<Readiness> };

/** `/healthz`: the process lives. `/readyz`: it can serve; missing workers are reported, and don't fail it. */
export function createHealthRoutes({ readReadiness }: HealthRoutesDeps): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const readiness = await readReadiness();
    res.status(readiness.status === 'ok' ? 200 : 503).json(readiness);
  });
  return router;
}
