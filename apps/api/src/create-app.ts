import type { Logger } from '@herald/infra';
import express, { type Express, type Router } from 'express';
import type { Authenticate } from './auth/authenticate.ts';
import { createErrorHandler } from './http/handle-error.ts';
import { HttpFault } from './http/http-fault.ts';
import { createRequestLog } from './http/log-requests.ts';
import { BODY_LIMIT_BYTES, parseJson } from './http/read-body.ts';
import { giveRequestId } from './http/request-id.ts';

export type AppDeps = {
  readonly logger: Logger;
  readonly authenticate: Authenticate;
  readonly health: Router;
  readonly receivers: Router;
  readonly deliveries: Router;
  readonly replays: Router;
  readonly tasks: Router;
  /** Parses bodies itself: a batch may be larger than anything else. */
  readonly executor: Router;
};

/** The HTTP surface. A key is checked before a body is read. */
export function createApp(deps: AppDeps): Express {
  const { logger, authenticate, health } = deps;
  const parse = parseJson(BODY_LIMIT_BYTES);
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple').set('case sensitive routing', true);
  app.use(giveRequestId, createRequestLog(logger));
  app.use(health);
  app.use('/api/public/webhooks', authenticate('webhooks'), parse, deps.receivers);
  app.use('/api/public/deliveries', authenticate('webhooks'), parse, deps.deliveries);
  app.use('/api/public/replays', authenticate('webhooks'), parse, deps.replays);
  app.use('/tasks', authenticate('tasks'), parse, deps.tasks);
  app.use('/api/internal', authenticate('execute'), deps.executor);
  app.use(() => {
    throw new HttpFault('route_not_found', 'there is nothing at this path');
  });
  app.use(createErrorHandler(logger));
  return app;
}
