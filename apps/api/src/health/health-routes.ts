import type { Readiness } from '@herald/store/readiness/create-readiness';
import { z } from 'zod';
import { StableCode } from '../http/to-time.ts';
import { operation, type RouteTable } from '../routing/operation.ts';

const Alive = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Alive' });

const FindingView = z
  .strictObject({
    level: z.enum(['warning', 'error']),
    code: StableCode.meta({ description: 'Stable.', examples: ['redis_away'] }),
    sentence: z.string().meta({ description: 'What is wrong, and what to do.' }),
  })
  .meta({ id: 'Finding' });

const ReadinessView = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    problems: z.array(FindingView).meta({ description: 'Why requests can not be served now; empty when they can.' }),
    warnings: z.array(FindingView).meta({ description: 'What somebody should look at, though it works.' }),
    workers: z.int().min(0).nullable().meta({ description: 'Workers seen lately; null when that can not be told.' }),
  })
  .meta({ id: 'Readiness' });

export type HealthRoutesDeps = { readonly readReadiness: () => Promise<Readiness> };

/** `/healthz`: the process lives. `/readyz`: it can serve. Missing workers are reported and do not fail it. */
export const HEALTH_ROUTES: RouteTable<HealthRoutesDeps> = {
  tag: 'Health',
  path: '',
  ids: {},
  operations: [
    operation('isAlive', 'GET /healthz', {
      summary: 'Whether the process lives',
      answer: { status: 200, description: 'It does.', schema: Alive },
      handle(_deps, _req, res) {
        res.json({ status: 'ok' });
      },
    }),
    operation('isReady', 'GET /readyz', {
      summary: 'Whether requests can be served',
      description: 'Missing workers are reported, and do not fail it: transitions are accepted without them.',
      answer: { status: 200, description: 'They can.', schema: ReadinessView },
      unavailable: 'They can not; `problems` says why.',
      async handle({ readReadiness }, _req, res) {
        const { status, problems, warnings, workers } = await readReadiness();
        res.status(status === 'ok' ? 200 : 503);
        res.json({ status, problems: [...problems], warnings: [...warnings], workers });
      },
    }),
  ],
};
