import type { Logger } from '@herald/runtime/log/logger';
import type { RequestMetrics } from './http/create-request-metrics.ts';
import type { Tracing } from '@herald/runtime/tracing/create-tracing';
import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Authenticate } from './auth/authenticate.ts';
import { createErrorHandler } from './http/handle-error.ts';
import { HttpFault } from './http/problem.ts';
import { ignoreConditions } from './http/ignore-conditions.ts';
import { createQueryJudge, parseQuery } from './openapi/judge-query.ts';
import { createRequestLog } from './http/log-requests.ts';
import { BODY_LIMIT_BYTES, parseJson } from './http/parse-json.ts';
import { giveRequestId } from './http/request-id.ts';
import { refuseUnclearHeaders } from './http/refuse-unclear-headers.ts';
import { rememberRoutes } from './http/route-of.ts';
import { createSecurityHeaders } from './http/security-headers.ts';
import { createRequestTrace } from './http/trace-requests.ts';
import { OPERATIONS } from './openapi/document/create-document.ts';

export type AppDeps = {
  readonly logger: Logger;
  readonly requestMetrics: RequestMetrics;
  /** Absent: no traces. */
  readonly tracing?: Tracing | undefined;
  readonly authenticate: Authenticate;
  /** Follows the authentication of workspace keys; executor keys have no limit. */
  readonly limitRate: RequestHandler;
  /** As `limitRate`. */
  readonly limitBodies: RequestHandler;
  /** See TRUST_PROXY. */
  readonly proxyCount: number;
  readonly idempotency: RequestHandler;
  /** Refuses everything while Redis gives no answer. */
  readonly refuseSilence: RequestHandler;
  /** Refuses everything while the data is resharded. */
  readonly refuseResharded: RequestHandler;
  readonly health: Router;
  readonly document: Router;
  readonly receivers: Router;
  readonly deliveries: Router;
  readonly replays: Router;
  readonly tasks: Router;
  /** Parses bodies itself: a batch may be larger than anything else. */
  readonly executor: Router;
  /** Absent: there are none, and nothing tells. */
  readonly operators: Router | undefined;
};

/** The HTTP surface. A key is checked before a body is read. */
export function createApp(deps: AppDeps): Express {
  const { logger, authenticate, health } = deps;
  const judgeQuery = createQueryJudge(OPERATIONS);
  const limits = [deps.limitBodies, deps.limitRate];
  const parse = [judgeQuery, ...parseJson(BODY_LIMIT_BYTES), deps.idempotency];
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', parseQuery).set('case sensitive routing', true);
  rememberRoutes(app);
  app.set('trust proxy', deps.proxyCount);
  app.use(giveRequestId, createRequestLog({ logger, metrics: deps.requestMetrics }), createSecurityHeaders());
  app.use(refuseUnclearHeaders, deps.document, ignoreConditions, health);
  app.use(deps.refuseSilence, deps.refuseResharded);
  if (deps.tracing) app.use(createRequestTrace(deps.tracing));
  // First, since nearly all requests are reports.
  app.use('/api/internal', authenticate('execute'), judgeQuery, deps.executor);
  app.use('/api/public/webhooks', authenticate('webhooks'), limits, parse, deps.receivers);
  app.use('/api/public/deliveries', authenticate('webhooks'), limits, parse, deps.deliveries);
  app.use('/api/public/replays', authenticate('webhooks'), limits, parse, deps.replays);
  app.use('/tasks', authenticate('tasks'), limits, parse, deps.tasks);
  if (deps.operators) app.use(deps.operators);
  app.use(() => {
    throw new HttpFault('route_not_found', 'there is nothing at this path');
  });
  app.use(createErrorHandler(logger));
  return app;
}
