import { Router } from 'express';
import type { BuiltFiles } from '../console/built-files.ts';
import { createAdminRoutes } from '../console/console-routes.ts';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { BODY_LIMIT_BYTES, parseJson } from '../http/parse-json.ts';
import { HttpFault } from '../http/problem.ts';
import type { Audit } from '../reports/create-audit.ts';
import { admit, atRoute } from '../http/request-state.ts';
import { createRouter, refuseOtherMethods, refuseUnknownPath, type Steps } from '../routing/create-router.ts';
import { BOARD_PATH } from './board/board-path.ts';
import type { BoardDeps } from './board/create-board.ts';
import { OPERATOR_ROUTES, type OperatorRoutesDeps } from './api/operator-routes.ts';
import type { OperatorDeps } from './create-operator-deps.ts';
import { createOperatorGuard } from './guard-operators.ts';

/** Failed sign-ins of one address. An open board fails twelve times a minute when its password changes. */
const SIGN_IN_FAILURES_PER_MINUTE = 30;

export type OperatorPagesDeps = Omit<BoardDeps, 'redis' | 'canWrite'> &
  Pick<OperatorRoutesDeps, 'portalLinks'> & { readonly builtConsole: BuiltFiles | undefined; readonly audit: Audit };

/** The pages for operators: `/metrics` for Prometheus, the board, the console and what it reads, behind one guard. */
export function createOperatorPages(deps: OperatorPagesDeps, operators: OperatorDeps): Router {
  const { operator, createBoard, redis, exposition } = operators;
  const { logger, now } = deps;
  const failures = createFailureLimiter(SIGN_IN_FAILURES_PER_MINUTE, now);
  const guard = createOperatorGuard({ credentials: operator, failures, logger });
  const router = Router();
  router.use('/metrics', atRoute('/metrics'), guard);
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
    createRouter(
      OPERATOR_ROUTES,
      { ...operators, portalLinks: deps.portalLinks },
      { judge: createWriteJudge(operator.canWrite), parse: () => parseJson(BODY_LIMIT_BYTES), audit: deps.audit },
    ),
    refuseUnknownPath,
  );
  router.use(BOARD_PATH, atRoute(BOARD_PATH), guard, createBoard({ ...deps, redis, canWrite: operator.canWrite }));
  router.use('/admin', guard, createAdminRoutes(deps.builtConsole));
  return router;
}

/** Of those who have signed in: changes are for operators whose pages may change things. */
function createWriteJudge(canWrite: boolean): Steps['judge'] {
  return (operation) => (req, _res, next) => {
    if (operation.method !== 'get' && !operation.forReaders && !canWrite) {
      throw new HttpFault(
        'insufficient_scope',
        'the pages of operators are read-only; OPERATOR_WRITE=true allows changes',
      );
    }
    admit(req, operation);
    next();
  };
}
