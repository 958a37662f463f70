import type { Readiness } from '@herald/store/readiness/create-readiness';
import { Router } from 'express';
import { z } from 'zod';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';

export const Alive = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Alive' });

const FindingView = z
  .strictObject({
    level: z.enum(['warning', 'error']),
    code: z
      .string()
      .regex(/^[a-z_]+$/)
      .meta({ description: 'Stable.', examples: ['redis_away'] }),
    sentence: z.string().meta({ description: 'What is wrong, and what to do.' }),
  })
  .meta({ id: 'Finding' });

export const ReadinessView = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    problems: z.array(FindingView).meta({ description: 'Why requests can not be served now; empty when they can.' }),
    warnings: z.array(FindingView).meta({ description: 'What somebody should look at, though it works.' }),
    workers: z.int().min(0).nullable().meta({ description: 'Workers seen lately; null when that can not be told.' }),
  })
  .meta({ id: 'Readiness' });

export type HealthRoutesDeps = { readonly readReadiness: () => Promise<Readiness> };

/** `/healthz`: the process lives. `/readyz`: it can serve; missing workers are reported, and don't fail it. */
export function createHealthRoutes({ readReadiness }: HealthRoutesDeps): Router {
  const router = Router();
  router
    .route('/healthz')
    .get((_req, res) => {
      const alive: z.infer<typeof Alive> = { status: 'ok' };
      res.json(alive);
    })
    .all(refuseOtherMethods('GET'));
  router
    .route('/readyz')
    .get(async (_req, res) => {
      const { status, problems, warnings, workers } = await readReadiness();
      const readiness: z.infer<typeof ReadinessView> = {
        status,
        problems: [...problems],
        warnings: [...warnings],
        workers,
      };
      res.status(status === 'ok' ? 200 : 503).json(readiness);
    })
    .all(refuseOtherMethods('GET'));
  return router;
}
