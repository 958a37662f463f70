import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import express from 'express';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { BareRouteInput } from '../scenarios/accept.ts';
import { BARE_ACCEPT_LUA } from './bare-accept-script.ts';
import { readInput, reply } from './program-io.ts';

// The minimum of an Express service that accepts a transition: parse the JSON, run one script, answer.

const { redisUrl, fanOut } = readInput() as BareRouteInput;
const redis = await connectRedis({
  target: { kind: 'single', url: redisUrl },
  use: 'request',
  name: 'bench-bare',
  onError: () => undefined,
});
redis.defineCommand('bareAccept', { numberOfKeys: 8, lua: BARE_ACCEPT_LUA });
const accept = (redis as unknown as Record<'bareAccept', (...args: (string | number)[]) => Promise<string>>).bareAccept;
const endpointIds = Array.from({ length: fanOut }, (_, index) => `wh_bench${index}`);
let accepted = 0;

const app = express();
app.disable('x-powered-by').disable('etag');
app.post('/api/internal/tasks/:id/transitions', express.json(), async (req, res) => {
  const taskId = req.params.id;
  const transitionId = `trn_${taskId}_${accepted++}`;
  const now = Date.now();
  const result = await accept.call(
    redis,
    ...[`t:${taskId}`, `t:${taskId}:facts`, 'version', 'tasks:queued', 'tasks:running'],
    ...['ready', 'wake', 'settings'],
    ...[now, taskId, transitionId, JSON.stringify({ id: transitionId, ...(req.body as object) })],
    ...endpointIds.flatMap((id) => [`dlv_${transitionId}_${id}`, id]),
  );
  res.json({ transitionId, taskId, status: result, duplicate: false });
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
reply({ port: (server.address() as AddressInfo).port });
process.once('SIGTERM', () => {
  server.close();
  void closeRedis(redis);
});
