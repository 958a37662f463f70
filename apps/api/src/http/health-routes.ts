import { codesOf, READINESS_CODES } from '@herald/core';
import type { Readiness } from '@herald/store/operators/create-readiness';
import { z } from 'zod';
import { operation, type RouteTable } from './operation.ts';
import { describeCodes } from './problem.ts';

const Alive = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Alive' });

const FindingView = z
  .strictObject({
    level: z.enum(['warning', 'error']),
    // A text for the compiler: the checks of a set-up share no list of codes. A test compares theirs with this one.
    code: z.string().meta({
      id: 'ReadinessCode',
      description: `Stable.\n\n${describeCodes(READINESS_CODES)}`,
      override: { 'x-extensible-enum': [...codesOf(READINESS_CODES)] },
      examples: ['redis_away'],
    }),
    sentence: z.string().meta({ description: 'What is wrong, and what to do.' }),
  })
  .meta({ id: 'Finding' });

const ReadinessView = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    problems: z.array(FindingView).meta({ description: "Why requests can't be served now. Empty when they can." }),
    warnings: z.array(FindingView).meta({ description: 'What needs attention although requests are served.' }),
    workers: z.int().min(0).nullable().meta({ description: 'Workers seen lately. Null when unknown.' }),
  })
  .meta({ id: 'Readiness' });

type HealthRoutesDeps = { readonly readReadiness: () => Promise<Readiness> };

/** `/healthz`: the process lives. `/readyz`: it can serve. Missing workers are reported and do not fail it. */
export const HEALTH_ROUTES: RouteTable<HealthRoutesDeps> = {
  tag: 'Health',
  path: '',
  access: 'public',
  ignoresQuery: true,
  ids: {},
  operations: [
    operation('isAlive', 'GET /healthz', {
      summary: 'Check that the process lives',
      description: 'It looks at nothing else: not at Redis, and at no worker.',
      answer: { status: 200, description: 'It lives.', schema: Alive },
      handle() {
        return { status: 'ok' as const };
      },
    }),
    operation('isReady', 'GET /readyz', {
      summary: 'Check that requests can be served',
      description: 'Missing workers are a warning: transitions are accepted without them.',
      answer: { status: 200, description: 'The process is ready.', schema: ReadinessView },
      unavailable: 'The process is not ready. `problems` says why.',
      async handle({ readReadiness }, _req, res) {
        const { status, problems, warnings, workers } = await readReadiness();
        res.status(status === 'ok' ? 200 : 503);
        return { status, problems: [...problems], warnings: [...warnings], workers };
      },
    }),
  ],
};
