import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import express from 'express';
import type { BareRouteInput } from '../scenarios/accept.ts';
import { readInput, reply } from './program-io.ts';

/** The commands and keys of accepting a transition, without its decisions. */
const BARE_ACCEPT_LUA = /* lua */ `
-- KEYS[1] Task (hash)   KEYS[2] facts (hash)   KEYS[3] version (string)   KEYS[4], KEYS[5] Tasks by status (zset)
-- KEYS[6] ready (zset)   KEYS[7] wake mark (zset)   KEYS[8] settings (hash)
-- ARGV[1] now (ms)   ARGV[2] Task id   ARGV[3] transition id   ARGV[4] body   ARGV[5..] delivery id, endpoint id, ...
-- Returns 'accepted'.
local now, task, transition = ARGV[1], ARGV[2], ARGV[3]
local ttl = 604800000
redis.call('HGET', KEYS[1], 'rev')
redis.call('GET', KEYS[3])
redis.call('HSET', KEYS[1], 'upd', now, 'rev', transition, 'status', 'running', 'seq', now)
redis.call('HSET', KEYS[2], transition, now)
redis.call('ZREM', KEYS[4], task)
redis.call('ZADD', KEYS[5], now, task)
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', tonumber(now) - ttl)
for _, key in ipairs({ KEYS[1], KEYS[2], KEYS[1] .. ':messages', KEYS[1] .. ':decisions', KEYS[1] .. ':callback' }) do
  redis.call('PEXPIRE', key, ttl)
end
for index = 5, #ARGV, 2 do
  local id, endpoint = ARGV[index], ARGV[index + 1]
  redis.call('HSET', id, 'x', transition, 'e', endpoint, 's', 'pending', 'at', now)
  local log = 'e:' .. endpoint .. ':log'
  if redis.call('ZCARD', log) >= 63 then redis.call('RENAME', log, log .. ':' .. id) end
  redis.call('ZADD', log, now, id)
  redis.call('PEXPIRE', log, ttl)
  redis.call('ZADD', 'q:' .. endpoint, now, id)
  redis.call('HMGET', 'g:' .. endpoint, 'p', 'n', 'lim', 'ok', 'sus', 'fails', 'open', 'wait', 'probe', 'hold', 'ttl')
  redis.call('ZRANGE', 'q:' .. endpoint, 0, 0, 'WITHSCORES')
  redis.call('ZADD', KEYS[6], now, endpoint)
  redis.call('ZADD', KEYS[7], 0, '0')
  redis.call('HSET', 'g:' .. endpoint, 'p', '1')
end
redis.call('HSET', transition, 'open', 1, 'body', ARGV[4], 'ev', 'task.check_in', 'task', task, 'at', now)
redis.call('HINCRBY', KEYS[8], 'n', (#ARGV - 4) / 2)
return 'accepted'
`;

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
