import type { OperatorConfig } from '@herald/config/operator-env';
import { Router } from 'express';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { BOARD_PATH } from './board/board-server.ts';
import { createBoard, type BoardDeps } from './board/create-board.ts';
import { createOperatorGuard } from './guard-operators.ts';

export type OperatorPagesDeps = Omit<BoardDeps, 'canWrite'> & {
  readonly operator: OperatorConfig;
  readonly metrics: Router;
};

/** Of one address. An open board whose password was changed fails twelve times. */
const SIGN_IN_FAILURES_PER_MINUTE = 30;

/** What operators see, all of it behind one guard. */
export function createOperatorPages({ operator, metrics, ...deps }: OperatorPagesDeps): Router {
  const { logger, now } = deps;
  const failures = createFailureLimiter({ limit: SIGN_IN_FAILURES_PER_MINUTE, windowMs: 60_000, now });
  const guard = createOperatorGuard({ credentials: operator, failures, logger });
  const router = Router();
  router.use('/metrics', guard, metrics);
  router.use(BOARD_PATH, guard, createBoard({ ...deps, canWrite: operator.canWrite }));
  return router;
}
