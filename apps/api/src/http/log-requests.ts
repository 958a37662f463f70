import { ID_PATTERNS } from '@herald/core';
import type { Resources } from '@herald/runtime/lifecycle';
import { createLogLimit, type Logger } from '@herald/runtime/log';
import { createCounter, type MetricsRegistry } from '@herald/runtime/metrics';
import type { Tracing } from '@herald/runtime/create-tracing';
import { Histogram } from '@prometheus-io/client';
import type { RequestHandler } from 'express';
import { addressOf, clientAddressOf, stateOf } from './request-state.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
/** Seconds. The test operation takes longest, because it waits for a receiver. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];
/** The `route` of a request with a wrong path, and of one that was refused before routing. */
const NO_ROUTE = 'none';

export function createRequestMetrics(registry: MetricsRegistry) {
  return {
    requests: createCounter(
      registry,
      'herald_http_requests_total',
      'Requests answered, by method, pattern of the path and status.',
      ['method', 'route', 'status'],
    ),
    seconds: new Histogram({
      name: 'herald_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer.',
      labelNames: ['method', 'route'] as const,
      buckets: BUCKETS,
      registers: [registry],
    }),
  };
}

export type RequestLogDeps = {
  readonly resources: Pick<Resources, 'add'>;
  readonly logger: Logger;
  readonly metrics: { readonly requests: ReturnType<typeof createRequestMetrics> };
};

/** Refusals of one client for one reason that are logged at level info in one window; the rest only at level debug. */
const REFUSALS = 20;
const WINDOW_MS = 10_000;
/** The `status` of a request whose client hung up before it was answered. */
const HUNG_UP = 'hung_up';

/**
 * Logs and counts each request when its answer is sent, or when its client has hung up. The log shows the path; the
 * metrics only its pattern. Nobody can flood the log with requests that are refused.
 */
export function createRequestLog({
  resources,
  logger,
  metrics: { requests: metrics },
}: RequestLogDeps): RequestHandler {
  const limit = createLogLimit(REFUSALS, WINDOW_MS, ({ owner: address, subject: reason, lines }) => {
    logger.info('request.refusals_not_logged', { address, reason, lines, withinMs: WINDOW_MS });
  });
  resources.add('request log', limit.close);
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const durationMs = performance.now() - startedAt;
      const isStream = String(res.getHeader('content-type')).startsWith('text/event-stream');
      // Readers end streams by hanging up.
      const status = res.writableFinished || isStream ? res.statusCode : HUNG_UP;
      const method = METHODS.has(req.method) ? req.method : 'other';
      const { requestId, caller, problem, route = NO_ROUTE } = stateOf(req);
      metrics.requests({ method, route, status: String(status) });
      // How long a stream stays open says nothing of how quickly requests are answered.
      if (!isStream) metrics.seconds.observe({ method, route }, durationMs / 1_000);
      const level = status === HUNG_UP ? 'debug' : status >= 500 ? 'warn' : status >= 400 ? 'info' : 'debug';
      const isRefused = level === 'info' && !limit.admits(`${problem ?? status}`, clientAddressOf(req));
      logger[isRefused ? 'debug' : level]('request.answered', {
        requestId,
        method: req.method,
        path: pathForLog(req.originalUrl),
        status,
        by: caller?.by,
        user: caller?.user,
        address: addressOf(req),
        durationMs: Math.round(durationMs),
      });
    });
    next();
  };
}

const { receiver, task, delivery, replay, portal_link: portalLink } = ID_PATTERNS;
const KNOWN = [/^[a-z-]{0,16}$/, receiver, task, delivery, replay, portalLink];

/** The path of a request for the log: words, Herald's ids, and `*` for all else, which may be a misplaced secret. */
export function pathForLog(originalUrl: string): string {
  const path = originalUrl.split('?', 1)[0] ?? '';
  const segments = path.slice(0, 200).split('/');
  return segments.map((segment) => (KNOWN.some((pattern) => pattern.test(segment)) ? segment : '*')).join('/');
}

/** Makes one span per request, in the trace of its caller. The pattern of the route is its name. */
export function createRequestTrace(tracing: Tracing): RequestHandler {
  return (req, res, next) => {
    const { method } = req;
    const span = tracing.startRequest(method, req.get('traceparent'));
    const state = stateOf(req);
    if (span.traceparent !== undefined) state.traceparent = span.traceparent;
    res.once('close', () => {
      const { route } = state;
      span.end({
        failed: res.statusCode >= 500 || !res.writableFinished,
        name: route === undefined ? method : `${method} ${route}`,
        attributes: {
          ...(route !== undefined && { 'http.route': route }),
          'http.request.method': method,
          'http.response.status_code': res.statusCode,
          'herald.request_id': state.requestId ?? '',
        },
      });
    });
    next();
  };
}
