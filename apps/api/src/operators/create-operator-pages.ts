import { setTimeout as wait } from 'node:timers/promises';
import type { ApiConfig } from '@herald/config/api-config';
import type { OperatorConfig } from '@herald/config/operator-env';
import { Router } from 'express';
import type { BuiltFiles } from '../console/built-files.ts';
import { createAdminRoutes } from '../console/console-routes.ts';
import { BODY_LIMIT_BYTES, parseJson } from '../http/parse-json.ts';
import { HttpFault } from '../http/problem.ts';
import type { Audit } from '../reports/create-audit.ts';
import { admit, atRoute } from '../http/request-state.ts';
import { createRouter, refuseOtherMethods, refuseUnknownPath, type Steps } from '../routing/create-router.ts';
import { BOARD_PATH } from './board/board-path.ts';
import type { BoardDeps } from './board/create-board.ts';
import { OPERATOR_ROUTES, type OperatorRoutesDeps } from './api/operator-routes.ts';
import { createCheckCredentials } from './check-credentials.ts';
import type { OperatorDeps } from './create-operator-deps.ts';
import { createOperatorGuard } from './guard-operators.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createSignInLimiter } from './limit-sign-ins.ts';

export type OperatorPagesDeps = Omit<BoardDeps, 'redis' | 'canWrite'> &
  Pick<OperatorRoutesDeps, 'portalLinks'> & {
    readonly config: Pick<ApiConfig, 'publicUrl' | 'secretsKeys'>;
    readonly builtConsole: BuiltFiles | undefined;
    readonly audit: Audit;
  };

/** The pages for operators: `/metrics` for Prometheus, the board, the console and what it reads, behind one guard. */
export function createOperatorPages(deps: OperatorPagesDeps, operators: OperatorDeps): Router {
  const { operator, createBoard, redis, exposition } = operators;
  const guard = createGuard(deps, operator);
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

function createGuard({ config, logger, now }: OperatorPagesDeps, operator: OperatorConfig): Router {
  const { publicUrl, secretsKeys } = config;
  const { check: checkCredentials, user } = createCheckCredentials(operator);
  return createOperatorGuard({
    checkCredentials,
    limitSignIn: createSignInLimiter({ operator: user, now, wait }),
    browsers: createKnownBrowsers({ secretsKeys, now }),
    user: operator.user,
    origin: publicUrl === undefined ? undefined : new URL(publicUrl).origin,
    logger,
  });
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
