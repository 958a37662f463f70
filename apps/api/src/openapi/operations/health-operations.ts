import { Alive, ReadinessView } from '../../health/health-routes.ts';
import type { Operation } from '../operation.ts';

export const HEALTH_OPERATIONS: readonly Operation[] = [
  {
    id: 'isAlive',
    method: 'get',
    path: '/healthz',
    tag: 'Health',
    summary: 'Whether the process lives',
    answers: [{ status: 200, description: 'It does.', schema: Alive }],
  },
  {
    id: 'isReady',
    method: 'get',
    path: '/readyz',
    tag: 'Health',
    summary: 'Whether requests can be served',
    description: 'Missing workers are reported, and do not fail it: transitions are accepted without them.',
    answers: [
      { status: 200, description: 'They can.', schema: ReadinessView },
      { status: 503, description: 'They can not; `problems` says why.', schema: ReadinessView },
    ],
  },
];
