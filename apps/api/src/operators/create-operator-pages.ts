import { setTimeout as wait } from 'node:timers/promises';
import type { ApiConfig } from '@herald/config/api-config';
import type { OperatorConfig } from '@herald/config/operator-env';
import type { Exposition } from '@herald/store/service-state/create-exposition';
import { Router, type RequestHandler } from 'express';
import type { BuiltFiles } from '../console/built-files.ts';
import { createAdminRoutes } from '../console/console-routes.ts';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { BODY_LIMIT_BYTES, parseJson } from '../http/parse-json.ts';
import { HttpFault } from '../http/problem.ts';
import { admit, atRoute, stateOf } from '../http/request-state.ts';
import type { Audit } from '../http/create-audit.ts';
import { createRouter, refuseUnknownPath, type Steps } from '../http/create-router.ts';
import { BOARD_PATH } from './board/board-path.ts';
import type { BoardDeps } from './board/create-board.ts';
import { OPERATOR_ROUTES, type OperatorRoutesDeps } from './api/operator-routes.ts';
import { createCheckCredentials } from './check-credentials.ts';
import type { OperatorDeps } from './create-operator-deps.ts';
import { createOperatorGuard } from './guard-operators.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createSignInLimiter } from './limit-sign-ins.ts';
import { createMetricsRoute, TOKEN_FAILURES_PER_MINUTE } from './metrics-route.ts';

export type OperatorPagesDeps = Omit<BoardDeps, 'redis' | 'canWrite'> &
  Pick<OperatorRoutesDeps, 'portalLinks'> & {
    readonly config: Pick<ApiConfig, 'metricsToken' | 'operatorListener' | 'publicUrl' | 'secretsKeys'>;
    /** Absent: there are no operators. */
    readonly operators: OperatorDeps | undefined;
    /** Absent: nobody may read it. */
    readonly exposition: Exposition | undefined;
    readonly builtConsole: BuiltFiles | undefined;
    readonly audit: Audit;
  };

/** The pages for operators: `/metrics` for Prometheus, the board, the console and what it reads, behind one guard. */
export function createOperatorPages(deps: OperatorPagesDeps): Router {
  const { config, exposition, operators, now } = deps;
  const guard = operators && createGuard(deps, operators.operator);
  const router = Router();
  if (exposition) {
    const failures = createFailureLimiter(TOKEN_FAILURES_PER_MINUTE, now);
    router.use(createMetricsRoute({ exposition, token: config.metricsToken, guard, failures }));
  }
  if (!operators || !guard) return router;
  const { operator, redis } = operators;
  router.use(
    OPERATOR_ROUTES.path,
    ...guard,
    createRouter(
      OPERATOR_ROUTES,
      { ...operators, portalLinks: deps.portalLinks },
      { judge: createWriteJudge(operator.canWrite), parse: () => parseJson(BODY_LIMIT_BYTES), audit: deps.audit },
    ),
    refuseUnknownPath,
  );
  router.use(BOARD_PATH, atRoute(BOARD_PATH), ...guard, openBoard({ ...deps, redis, canWrite: operator.canWrite }));
  router.use('/admin', ...guard, createAdminRoutes(deps.builtConsole));
  return router;
}

/** Loaded when somebody opens it: bull-board and BullMQ take memory that few processes need. */
function openBoard(deps: BoardDeps): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    loading ??= import('./board/create-board.ts').then(({ createBoard }) => createBoard(deps));
    const show = await loading;
    await show(req, res, next);
  };
}

function createGuard({ config, logger, now }: OperatorPagesDeps, operator: OperatorConfig) {
  const { operatorListener, publicUrl, secretsKeys } = config;
  const { check: checkCredentials, user } = createCheckCredentials(operator);
  // PUBLIC_URL says where the port of customers is, and nothing of one that operators have for themselves.
  const isAtPublicUrl = publicUrl !== undefined && operatorListener === undefined;
  return createOperatorGuard({
    checkCredentials,
    limitSignIn: createSignInLimiter({ operator: user, now, wait }),
    browsers: createKnownBrowsers({ secretsKeys, now }),
    origin: isAtPublicUrl ? new URL(publicUrl).origin : undefined,
    user: operator.user,
    logger,
  });
}

/** Of those who have signed in: changes are for operators whose pages may change things. */
function createWriteJudge(canWrite: boolean): Steps['judge'] {
  return (operation) => (req, _res, next) => {
    if (stateOf(req).caller?.by !== 'operator') throw new Error('nobody has signed in');
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
