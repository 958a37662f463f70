import type { Tracing } from '@herald/runtime/tracing/create-tracing';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atRoute } from './request-state.ts';
import { createRequestTrace } from './trace-requests.ts';

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
