import type { RedisClient } from '@herald/store/redis/connect-redis';
import { COUNT_LUA } from '@herald/store/stats/count-lua';
import { ARRIVAL_BINS, ATTEMPT_BINS, fieldsOf } from '@herald/store/stats/counter-layout';
import { startHttps } from '@herald/test-kit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createDeliveryClient } from '../../tests/support/delivery-client.ts';
import { shardKeys } from '../../tests/support/delivery-state.ts';
import { OPERATOR_ENV } from '../../tests/support/operator-client.ts';
import { actionRequired, checkpoint, DONE, START } from '../../tests/support/reports.ts';
import { startHerald } from '../../tests/support/start-herald.ts';
import { startNameServer } from '../../tests/support/start-name-server.ts';

const HOSTS = ['hooks.acme.example', 'billing.acme.example', 'legacy.acme.example', 'staging.acme.example'] as const;
const TASKS = 24;

/** What the hosts of the scene answer. */
function answer(req: IncomingMessage, res: ServerResponse): void {
  const host = req.headers.host?.split(':')[0];
  const delivery = String(req.headers['x-service-delivery']);
  const send = (status: number, body: string, headers: Record<string, string> = {}) => {
    const type = body.startsWith('{') ? 'application/json' : 'text/plain';
    res.writeHead(status, { server: 'nginx/1.27.3', 'content-type': type, ...headers }).end(body);
  };
  // Every host takes another time, and not always the same.
  setTimeout(
    () => {
      if (host === 'billing.acme.example') {
        send(503, '{"error":"database is read-only","retryable":true}', { 'retry-after': '120' });
      } else if (host === 'legacy.acme.example') send(410, 'This hook has moved. Ask the integrations team.');
      else if (host === 'hooks.acme.example' && delivery.charCodeAt(6) % 5 === 0 && seen(delivery) < 2) {
        send(502, '<html><body><h1>502 Bad Gateway</h1></body></html>', { 'content-type': 'text/html' });
      } else send(202, '{"queued":true}');
    },
    20 + (delivery.charCodeAt(8) % 60),
  );
}

const counts = new Map<string, number>();
/** How often it has come, with this time. */
function seen(delivery: string): number {
  const count = (counts.get(delivery) ?? 0) + 1;
  counts.set(delivery, count);
  return count;
}

/** A workspace with something of everything, on hosts whose names mean something. */
export async function startScene() {
  await using cleanUp = new AsyncDisposableStack();
  const names = cleanUp.use(await startNameServer());
  for (const host of HOSTS) names.set(host, '127.0.0.1');
  const env = { ...OPERATOR_ENV, EGRESS_DNS_SERVERS: names.address, RETRY_SCHEDULE: '2s,5m,30m,2h' };
  const herald = cleanUp.use(await startHerald({ env }));
  const { certPem: cert, keyPem: key } = await herald.ca.issueCertificate({ hosts: HOSTS });
  const server = cleanUp.use(await startHttps({ cert, key }, answer));
  const workspace = await herald.createWorkspace();
  const register = async (host: (typeof HOSTS)[number], path: string, description: string, events: string[] = []) =>
    await workspace.registerReceiver({ url: `https://${host}:${server.port}${path}`, description, events });
  const receivers = {
    hooks: await register('hooks.acme.example', '/herald/v2', 'Production'),
    billing: await register('billing.acme.example', '/webhooks/tasks', 'Billing', ['task.done', 'task.canceled']),
    legacy: await register('legacy.acme.example', '/cgi-bin/notify', 'The old CRM', ['task.done']),
    staging: await register('staging.acme.example', '/', ''),
  };
  await seedHistory(herald.redis, receivers.hooks.id as `wh_${string}`);
  const client = createDeliveryClient(workspace);
  const tasks: string[] = [];
  for (let count = 0; count < TASKS; count++) {
    const task = await workspace.createTask({ input: { text: 'Pay the invoice of January' } });
    tasks.push(task.id);
    await herald.executor.report(task.id, START, checkpoint('cp_1'), actionRequired(1), DONE);
  }
  const isTried = async () => {
    const { deliveries } = await client.list(receivers.hooks, { limit: '100' });
    return deliveries.every(({ status }) => status === 'delivered');
  };
  for (let tries = 0; tries < 300 && !(await isTried()); tries++) await new Promise((done) => setTimeout(done, 100));
  const failing = await client.list(receivers.billing, { limit: '1' });
  const retried = await client.list(receivers.hooks, { limit: '100' });
  const stack = cleanUp.move();
  return {
    herald,
    workspace,
    receivers,
    tasks,
    /** Of a delivery that waits for its next try, and of one that arrived at a later try. */
    pendingId: failing.deliveries[0]?.id ?? '',
    retriedId: retried.deliveries.find(({ tries }) => tries > 1)?.id ?? '',
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

// Counts what would have happened in a past minute, as the scripts of the service count.
// KEYS[1] counters   ARGV[1] the minute (ms)   ARGV[2..] field and how much, in turn
const COUNT_PAST_LUA = /* lua */ `
${COUNT_LUA}
local counts = {}
for index = 2, #ARGV, 2 do counts[tonumber(ARGV[index])] = tonumber(ARGV[index + 1]) end
count(KEYS[1], tonumber(ARGV[1]), counts)
`;

/** Gives an endpoint and the service a day of history: busy by day, quiet by night, and an outage in between. */
async function seedHistory(redis: RedisClient, endpointId: `wh_${string}`): Promise<void> {
  const keys = shardKeys();
  const count = async (key: string, at: number, counts: readonly (readonly [field: number, count: number])[]) => {
    const some = counts.filter(([, each]) => each > 0).flat();
    if (some.length > 0) await redis.eval(COUNT_PAST_LUA, 1, key, at, ...some);
  };
  const now = Date.now();
  for (let ago = DAY_MINUTES; ago >= 1; ago--) {
    const at = now - ago * MINUTE_MS;
    const busy =
      1.2 + Math.sin((ago / DAY_MINUTES) * 2 * Math.PI) + 0.35 * Math.sin(ago / 37) + 0.2 * Math.sin(ago / 7);
    const delivered = Math.max(1, Math.round(busy * 16));
    const failed = ago > 250 && ago < 330 ? Math.round(delivered / 2) : ago % 41 === 0 ? 1 : 0;
    const { field: failedAttempt, shardField } = fieldsOf({
      isSuccess: false,
      durationMs: 0,
      arrivedAfterMs: undefined,
    });
    const slow = Math.round(delivered / 12);
    await count(keys.endpointStats(endpointId), at, [
      [ATTEMPT_BINS.fieldOf(60 + 20 * busy), delivered - slow],
      [ATTEMPT_BINS.fieldOf(190 + 70 * busy), slow],
      [failedAttempt, failed],
    ]);
    await count(keys.shardStats, at, [
      [0, delivered + failed],
      [ARRIVAL_BINS.fieldOf(40 + 20 * busy), delivered - slow],
      [ARRIVAL_BINS.fieldOf(200 + 90 * busy), slow],
      [shardField, failed],
    ]);
  }
}
