import express, { Router } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rememberRoutes, routeOf } from './route-of.ts';

const things = Router();
things.get('/', (_req, res) => void res.end());
things.get('/:id', (_req, res) => void res.end());
things.post('/:id/break', () => {
  throw new Error('broken');
});

test.each([
  { asked: 'GET /things', route: '/things' },
  { asked: 'GET /things/7?a=b', route: '/things/:id' },
  { asked: 'POST /things/7/break', route: '/things/:id/break' },
  { asked: 'GET /other', route: undefined },
])('$asked is routed to $route', async ({ asked, route }) => {
  const app = express();
  rememberRoutes(app);
  const seen: (string | undefined)[] = [];
  app.use((req, res, next) => {
    res.once('finish', () => seen.push(routeOf(req)));
    next();
  });
  app.use('/things', things);
  app.use(((_error, _req, res, _next) => void res.status(500).end()) as express.ErrorRequestHandler);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [method = '', path = ''] = asked.split(' ');
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  expect(seen).toEqual([route]);
});
