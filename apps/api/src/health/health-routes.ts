import { Router } from 'express';

export type HealthRoutesDeps = {
  /** Why requests can't be served now; empty when they can. */
  readonly findProblems: () => Promise<readonly string[]>;
  /** Workers seen lately; undefined when that can't be told. */
  readonly countWorkers: () => Promise<number | undefined>;
};

/** `/healthz`: the process lives. `/readyz`: it can serve; missing workers are reported, and don't fail it. */
export function createHealthRoutes({ findProblems, countWorkers }: HealthRoutesDeps): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const [problems, workers] = await Promise.all([findProblems(), countWorkers()]);
    const warnings = workers === 0 ? ['no worker was seen lately: transitions are accepted, nothing is sent'] : [];
    res.status(problems.length === 0 ? 200 : 503);
    res.json({ status: problems.length === 0 ? 'ok' : 'unavailable', problems, warnings, workers: workers ?? null });
  });
  return router;
}
