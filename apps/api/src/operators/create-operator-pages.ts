import type { OperatorConfig } from '@herald/config/operator-env';
import type { Exposition } from '@herald/store/service-state/create-exposition';
import { Router } from 'express';
import type { BuiltFiles } from '../console/built-files.ts';
import { createAdminRoutes } from '../console/console-routes.ts';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { refuseOtherMethods } from '../routing/create-router.ts';
import { BOARD_PATH } from './board/board-server.ts';
import { createBoard, type BoardDeps } from './board/create-board.ts';
import { createOperatorGuard } from './guard-operators.ts';

export type OperatorPagesOptions = OperatorConfig &
  Pick<BoardDeps, 'redis'> & { readonly exposition: Exposition; readonly builtConsole: BuiltFiles | undefined };

/** Failed sign-ins of one address. An open board fails twelve times a minute when its password changes. */
const SIGN_IN_FAILURES_PER_MINUTE = 30;

/** The pages for operators: `/metrics` for Prometheus, the board and the console, behind one guard. */
export function createOperatorPages(
  deps: Omit<BoardDeps, 'redis' | 'canWrite'>,
  { redis, canWrite, exposition, builtConsole, ...credentials }: OperatorPagesOptions,
): Router {
  const { logger, now } = deps;
  const failures = createFailureLimiter(SIGN_IN_FAILURES_PER_MINUTE, now);
  const guard = createOperatorGuard({ credentials, failures, logger });
  const router = Router();
  router.use('/metrics', guard);
  router
    .route('/metrics')
    .get(async (_req, res) => {
      const text = await exposition.render();
      res.set('content-type', exposition.contentType).send(text);
    })
    .all(refuseOtherMethods('GET'));
  router.use(BOARD_PATH, guard, createBoard({ ...deps, redis, canWrite }));
  router.use('/admin', guard);
  router.use(createAdminRoutes(builtConsole));
  return router;
}
