import { UnavailableError } from '@herald/core';
import type { ApiConfig } from '@herald/config/api-config';
import type { Logger } from '@herald/runtime/log';
import type { createWaitingView } from '@herald/store/operators/exposition';
import express, { type Express, type RequestHandler } from 'express';
import { join } from 'node:path';
import { ACTIVITY_ROUTES, STATS_ROUTES } from './deliveries/stats.ts';
import { createFailureLimiter } from './auth/failure-limiter.ts';
import { createAccessJudge, createNoteKeyUse, DATA_AWAY, refuseUnreachableData } from './auth/judge-access.ts';
import {
  createConsoleAssets,
  createConsoleRedirect,
  createConsoleRoutes,
  readBuiltFiles,
} from './console/console-routes.ts';
import type { AppContext } from './context.ts';
import { DELIVERY_ROUTES } from './deliveries/delivery-routes.ts';
import { HEALTH_ROUTES } from './http/health-routes.ts';
import { createAllowOrigins, createSecurityHeaders, ignoreConditions, refuseUnclearHeaders } from './http/headers.ts';
import { createErrorHandler } from './http/handle-error.ts';
import { createRequestLog, createRequestTrace } from './http/log-requests.ts';
import { BATCH_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES, parseJson } from './http/parse-json.ts';
import { giveRequestId } from './http/request-state.ts';
import { createIdempotency } from './idempotency.ts';
import { createDocumentRoutes } from './documents/document-routes.ts';
import { LISTEN_ROUTES } from './listening/listen-routes.ts';
import { createOperatorPages } from './operators/create-operator-pages.ts';
import { createMetricsRoute, TOKEN_FAILURES_PER_MINUTE } from './operators/metrics-route.ts';
import { createPageRoutes } from './documents/pages.ts';
import { createBodyLimit, createRateLimit } from './http/rate-limit.ts';
import { LOCK_ROUTES, RECEIVER_ROUTES } from './receivers/receiver-routes.ts';
import { PLATFORM_ROUTES } from './platform/platform-routes.ts';
import { REPLAY_ROUTES } from './deliveries/replays.ts';
import {
  admitEverybody,
  createRouter,
  refuseDoubledSlashes,
  refuseUnknownPath,
  type Steps,
} from './http/create-router.ts';
import { parseQuery } from './http/read-input.ts';
import { mayRunAgain, type RouteTable } from './http/operation.ts';
import { ACCESS_ROUTES, PORTAL_LINK_ROUTES } from './portal-links/portal-link-routes.ts';
import { TASK_ROUTES } from './tasks/task-routes.ts';
import { TRANSITION_ROUTES } from './tasks/transition-routes.ts';
import { readKit } from './documents/kit.ts';

/** Failed authentications of one address that get a 401. A key has 190 bits, so guesses are hopeless anyway. */
const KEY_FAILURES_PER_MINUTE = 120;

const CUSTOMER_ROUTES: readonly RouteTable<AppContext>[] = [
  RECEIVER_ROUTES,
  LOCK_ROUTES,
  DELIVERY_ROUTES,
  REPLAY_ROUTES,
  STATS_ROUTES,
  ACTIVITY_ROUTES,
  LISTEN_ROUTES,
  PORTAL_LINK_ROUTES,
  ACCESS_ROUTES,
  TASK_ROUTES,
  PLATFORM_ROUTES,
];

/** Where `npm run build` leaves the console: the same place seen from here and from the bundle. */
const CONSOLE_FOLDER = join(import.meta.dirname, '../../console/dist');
const KIT_FOLDER = join(import.meta.dirname, '../../api/dist/kit');

/** What is at the port of customers and executors. A key is checked before a body is read. */
export function createApp(context: AppContext): Express {
  const { config, logger, apiKeys, audit, now } = context;
  const noteKeyUse = createNoteKeyUse({ writeLastUse: apiKeys.writeLastUse, logger, now });
  const judge = createAccessJudge({
    findKey: apiKeys.find,
    findLink: context.findLink,
    isDataHere: context.shards.isHere,
    mayOperatorsWrite: config.operator?.canWrite === true,
    failures: createFailureLimiter(KEY_FAILURES_PER_MINUTE, now),
    noteUse: (key) => {
      noteKeyUse(key);
      context.metrics.keys.used(key);
    },
  });
  const limits = [createRateLimit(config.rateLimit, context.sendRateLimitCommand)];
  const limitBodies = createBodyLimit();
  const records = context.idempotencyRecords;
  const keepAnswer = createIdempotency({ records, logger });
  const keepAnswerOrNone = createIdempotency({ records, logger, mayRunAgain: true });
  const readJson = parseJson(BODY_LIMIT_BYTES);
  const parseCreating = [...readJson, keepAnswer];
  const parseSingle = [...readJson, keepAnswerOrNone];
  const parseBatch = [...parseJson(BATCH_BODY_LIMIT_BYTES, 'transitions'), keepAnswerOrNone];

  const app = createBareApp(context);
  const beforeData = createBeforeData(context);
  // First, because nearly all requests are reports.
  const executor = createRouter(TRANSITION_ROUTES, context, {
    // Executor keys have no limits.
    judge,
    parse: ({ body, batch }) => {
      if (batch) return parseBatch;
      return body ? parseSingle : [];
    },
    audit,
  });
  app.use(TRANSITION_ROUTES.path, ignoreConditions, ...beforeData, executor, refuseUnknownPath);
  const areOperatorsHere = config.operatorListener === undefined;
  const kit = readKit(KIT_FOLDER);
  app.use(createDocumentRoutes(areOperatorsHere ? 'all' : 'customers', { kit, publicUrl: config.publicUrl }));
  app.use(ignoreConditions, createPageRoutes(), createHealth(context));
  const builtConsole = readBuiltFiles(CONSOLE_FOLDER);
  const { frameAncestors, brand } = config;
  app.use(createConsoleAssets(builtConsole), createConsoleRoutes(builtConsole, { frameAncestors, brand }));
  app.use(
    CUSTOMER_ROUTES.map(({ path }) => path),
    createAllowOrigins(config.allowedOrigins),
  );
  app.use(beforeData);
  for (const table of CUSTOMER_ROUTES) {
    const parse: Steps['parse'] = (operation) => {
      if (!operation.body) return [];
      return [limitBodies, ...(mayRunAgain(operation, table.access) ? parseSingle : parseCreating)];
    };
    app.use(table.path, createRouter(table, context, { judge, limits, parse, audit }));
  }
  if (areOperatorsHere) app.use(createOperatorPages({ ...context, builtConsole }));
  app.use(refuseUnknownPath);
  app.use(createErrorHandler(logger));
  return app;
}

/** What is at the port of operators, if they have one of their own, and at no other. */
export function createOperatorApp(context: AppContext): Express {
  const builtConsole = readBuiltFiles(CONSOLE_FOLDER);
  const app = createBareApp(context);
  app.use(createDocumentRoutes('operators'), ignoreConditions, createHealth(context));
  app.use(createConsoleAssets(builtConsole), createConsoleRedirect(context.config));
  app.use(createBeforeData(context), createOperatorPages({ ...context, builtConsole }));
  app.use(refuseUnknownPath);
  app.use(createErrorHandler(context.logger));
  return app;
}

export type WaitingAppDeps = {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly view: Pick<ReturnType<typeof createWaitingView>, 'readReadiness' | 'exposition'>;
};

/**
 * What is at the ports of an API that waits for a Redis that can be used: whether it lives and is ready, and metrics for
 * whoever has METRICS_TOKEN. All else is 503.
 */
export function createWaitingApp({ config, logger, view }: WaitingAppDeps, port: 'customers' | 'operators'): Express {
  const app = createEmptyApp(config);
  app.use(giveRequestId, createSecurityHeaders(), refuseUnclearHeaders, ignoreConditions);
  app.use(createRouter(HEALTH_ROUTES, view, { judge: admitEverybody }));
  const { metricsToken: token, operatorListener } = config;
  if (token !== undefined && (port === 'operators' || operatorListener === undefined)) {
    const failures = createFailureLimiter(TOKEN_FAILURES_PER_MINUTE, Date.now);
    app.use(createMetricsRoute({ exposition: view.exposition, token, guard: undefined, failures }));
  }
  app.use(() => {
    throw new UnavailableError(DATA_AWAY);
  });
  app.use(createErrorHandler(logger));
  return app;
}

function createEmptyApp({ proxyCount }: Pick<ApiConfig, 'proxyCount'>): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', parseQuery).set('case sensitive routing', true);
  return app.set('trust proxy', proxyCount);
}

/** An app that answers nothing yet, with what holds for every request. */
function createBareApp(context: AppContext): Express {
  const app = createEmptyApp(context.config);
  app.use(giveRequestId, createRequestLog(context), createSecurityHeaders());
  app.use(refuseUnclearHeaders, context.untrustedProxy.note, refuseDoubledSlashes);
  return app;
}

const createHealth = (context: AppContext) => createRouter(HEALTH_ROUTES, context, { judge: admitEverybody });

/** For whatever reads the data. */
function createBeforeData(context: AppContext): RequestHandler[] {
  const { tracing } = context;
  return [refuseUnreachableData(context), ...(tracing ? [createRequestTrace(tracing)] : [])];
}
