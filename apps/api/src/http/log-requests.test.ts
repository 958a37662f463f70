import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newReceiverId, newTaskId } from '@herald/core';
import type { Tracing } from '@herald/runtime/create-tracing';
import express from 'express';
import { createRequestTrace, pathForLog } from './log-requests.ts';
import { atRoute } from './request-state.ts';

const [receiver, task] = [newReceiverId(0), newTaskId(0)];

test.each([
  ['/', '/'],
  ['/healthz', '/healthz'],
  [`/api/public/webhooks/${receiver}/secret/rotate`, `/api/public/webhooks/${receiver}/secret/rotate`],
  [`/tasks/${task}/approvals/pay-1/resolve?x=1`, `/tasks/${task}/approvals/*/resolve`],
  ['/api/public/webhooks?token=whsec_abc', '/api/public/webhooks'],
  ['/api/public/webhooks/hrld_0123456789abcdefghijABCDEFGHIJ0123456789', '/api/public/webhooks/*'],
  ['/api/public/webhooks/hrld_0123456789abcdef_abcdefghijABCDEFGHIJ0123456789', '/api/public/webhooks/*'],
  ['/api/public/portal-links/plk_0123456789abcdef', '/api/public/portal-links/plk_0123456789abcdef'],
  ['/api/public/portal-links/hrlp_0123456789abcdefghijABCDEFGHIJ01234567', '/api/public/portal-links/*'],
  ['/whsec_abc/def+ghi=', '/*/*'],
  [`/api/public/webhooks/${receiver}x`, '/api/public/webhooks/*'],
  ['/%68rld_0', '/*'],
])('%s is logged as %s', (url, logged) => {
  expect(pathForLog(url)).toBe(logged);
});

test('a path is cut, and what is cut off is not shown', () => {
  expect(pathForLog(`/${'a/'.repeat(500)}`).length).toBeLessThanOrEqual(200);
});

type Ended = Parameters<ReturnType<Tracing['startRequest']>['end']>[0];

test.each([
  { status: 200, failed: false },
  { status: 422, failed: false },
  { status: 500, failed: true },
  { status: 503, failed: true },
])('the span of a request that is answered with $status has failed: $failed', async ({ status, failed }) => {
  const ended = Promise.withResolvers<Ended>();
  const startRequest: Tracing['startRequest'] = () => ({ traceparent: undefined, end: ended.resolve });
  const app = express();
  app.use(createRequestTrace({ startRequest } as Tracing));
  app.get('/things/:id', atRoute('/things/:id'), (_req, res) => void res.sendStatus(status));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/things/1`);
    const attributes = { 'http.response.status_code': status, 'http.request.method': 'GET' };
    expect(await ended.promise).toMatchObject({ failed, name: 'GET /things/:id', attributes });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
