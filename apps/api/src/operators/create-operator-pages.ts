import { Router } from 'express';
import type { BuiltFiles } from '../console/built-files.ts';
import { createAdminRoutes } from '../console/console-routes.ts';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { BODY_LIMIT_BYTES, parseJson } from '../http/parse-json.ts';
import { createRouter, refuseOtherMethods, refuseUnknownPath } from '../routing/create-router.ts';
import { createQueryJudge } from '../routing/judge-query.ts';
import { BOARD_PATH } from './board/board-path.ts';
import type { BoardDeps } from './board/create-board.ts';
import { OPERATOR_ROUTES, type OperatorRoutesDeps } from './api/operator-routes.ts';
import type { OperatorDeps } from './create-operator-deps.ts';
import { createOperatorGuard } from './guard-operators.ts';

/** Failed sign-ins of one address. An open board fails twelve times a minute when its password changes. */
const SIGN_IN_FAILURES_PER_MINUTE = 30;

export type OperatorPagesDeps = Omit<BoardDeps, 'redis' | 'canWrite'> &
  Pick<OperatorRoutesDeps, 'portalLinks'> & { readonly builtConsole: BuiltFiles | undefined };

/** The pages for operators: `/metrics` for Prometheus, the board, the console and what it reads, behind one guard. */
export function createOperatorPages(deps: OperatorPagesDeps, operators: OperatorDeps): Router {
  const { operator, createBoard, redis, exposition } = operators;
  const { logger, now } = deps;
  const failures = createFailureLimiter(SIGN_IN_FAILURES_PER_MINUTE, now);
  const guard = createOperatorGuard({ credentials: operator, failures, logger });
  const router = Router();
  router.use('/metrics', guard);
  router
    .route('/metrics')
    .get(async (_req, res) => {
      const text = await exposition.render();
      res.set('content-type', exposition.contentType).send(text);
    })
    .all(refuseOtherMethods('GET'));
  router.use(
    OPERATOR_ROUTES.path,
    guard,
    createQueryJudge(OPERATOR_ROUTES),
    ...parseJson(BODY_LIMIT_BYTES),
    createRouter(OPERATOR_ROUTES, { ...operators, portalLinks: deps.portalLinks }),
    refuseUnknownPath,
  );
  router.use(BOARD_PATH, guard, createBoard({ ...deps, redis, canWrite: operator.canWrite }));
  router.use('/admin', guard, createAdminRoutes(deps.builtConsole));
  return router;
}
