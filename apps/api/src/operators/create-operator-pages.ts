import { setTimeout as wait } from 'node:timers/promises';
import type { ApiConfig } from '@herald/config/api-config';
import type { OperatorConfig } from '@herald/config/operator-env';
import type { HistoryReader } from '@herald/core';
import { type AuditHistory, createAuditTrail } from '@herald/store/access/audit-trail';
import type { Keyspace } from '@herald/store/keys/keys';
import { createFailedView, createGroupView } from '@herald/store/operators/describe-delivery';
import { createMemoryTrend, type ServiceState } from '@herald/store/operators/create-service-state-reader';
import type { Exposition } from '@herald/store/operators/exposition';
import { createSearch } from '@herald/store/operators/search';
import type { Readiness } from '@herald/store/operators/create-readiness';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createProcessPresence } from '@herald/store/data/find-running';
import { createStatsReader } from '@herald/store/stats/stats-reader';
import { type RequestHandler, Router } from 'express';
import { createFailureLimiter } from '../auth/failure-limiter.ts';
import { type BuiltFiles, createAdminRoutes } from '../console/console-routes.ts';
import type { Audit } from '../http/create-audit.ts';
import { createRouter, refuseOtherMethods, refuseUnknownPath, type Steps } from '../http/create-router.ts';
import { BODY_LIMIT_BYTES, parseJson } from '../http/parse-json.ts';
import { HttpFault } from '../http/problem.ts';
import { admit, atRoute, stateOf } from '../http/request-state.ts';
import type { BoardDeps } from './board.ts';
import { createOperatorGuard } from './guard-operators.ts';
import { createMetricsRoute, TOKEN_FAILURES_PER_MINUTE } from './metrics-route.ts';
import { createOperatorReads } from './operator-lists.ts';
import { OPERATOR_ROUTES, type OperatorRoutesDeps } from './operator-routes.ts';
import { createReadOverview } from './read-overview.ts';
import { createCheckCredentials, createKnownBrowsers, createSignInLimiter } from './sign-in.ts';

type OperatorPagesDeps = Omit<BoardDeps, 'path' | 'redis' | 'canWrite'> &
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
      {
        judge: createWriteJudge(operator.canWrite),
        parse: ({ body }) => (body ? parseJson(BODY_LIMIT_BYTES) : []),
        audit: deps.audit,
      },
    ),
    refuseUnknownPath,
  );
  router.use(
    BOARD_PATH,
    atRoute(BOARD_PATH),
    ...guard,
    refuseQuestions,
    openBoard({ ...deps, path: BOARD_PATH, redis, canWrite: operator.canWrite }),
  );
  router.use('/admin', ...guard, createAdminRoutes(deps.builtConsole));
  return router;
}

/** The board's own Express would answer by itself what may be asked. */
const refuseQuestions: RequestHandler = (req, res, next) => {
  if (req.method !== 'OPTIONS') next();
  else refuseOtherMethods('GET')(req, res, next);
};

/** Loaded when somebody opens it: bull-board and BullMQ take memory that few processes need. */
function openBoard(deps: BoardDeps): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    loading ??= import('./board.ts').then(({ createBoard }) => createBoard(deps));
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

type OperatorDepsOptions = {
  readonly operator: OperatorConfig;
  /** Apart from the connection of requests. */
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** Entries of the audit trail that a shard keeps. */
  readonly length: number;
  /** How long a settled record is kept, in ms. */
  readonly keepMs: number;
  readonly readServiceState: () => Promise<ServiceState>;
  readonly readReadiness: () => Promise<Readiness>;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: (HistoryReader & AuditHistory) | undefined;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What the operator pages are made of. */
export function createOperatorDeps({ operator, readServiceState, ...shared }: OperatorDepsOptions) {
  const { redis, readReadiness, now } = shared;
  const failed = createFailedView(shared);
  return {
    operator,
    redis,
    readOverview: createReadOverview({
      readServiceState,
      readReadiness,
      processes: createProcessPresence(redis, now),
      stats: createStatsReader(shared),
      failed,
      noteMemory: createMemoryTrend(),
      now,
    }),
    reads: createOperatorReads({
      groups: createGroupView(shared),
      failed,
      search: createSearch(shared),
      trail: createAuditTrail(shared),
      now,
    }),
  };
}
type OperatorDeps = ReturnType<typeof createOperatorDeps>;

/** Where the board is. */
const BOARD_PATH = '/admin/queues';
