import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Endpoint, newReceiverId, newSigningSecret } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA, scoreOf } from '@herald/queue';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createKeyspace } from '@herald/store/keys/keys';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { checkIn, openApiClient, type ReportedItem, reportInBatches, START } from '../clients.ts';
import { prepareWorkspaces, startTasks } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { createHeraldEnv, type HeraldEnv, startApi, startBenchRedis, startWorker } from '../start-herald.ts';
import { type Receivers, startReceivers } from '../start-receivers.ts';
import { type Cell, median } from '../table.ts';
import { judgeGrowth } from '../targets.ts';
import { measureFloor } from './floor.ts';

const OWN_RECEIVERS = 10;
const TASKS = 500;
const FLOOR_COUNT = 10_000;
const DEADLINE_MS = 600_000;

type Variant = {
  readonly name: string;
  /** Receivers of all workspaces. Default: only the measured ones. */
  readonly registered?: number;
  /** Delayed deliveries of a few destinations. */
  readonly behind?: number;
  /** Destinations with one waiting delivery each. */
  readonly destinations?: number;
};
type Round = { readonly acceptedPerSecond: number; readonly drainedPerSecond: number };
type Herald = AsyncDisposable & { readonly variant: Variant; readonly measure: () => Promise<Round> };

/** Whether Herald gets slower with more data: all variants are set up at once, and take turns. */
export const growth: Scenario = async ({ options, say }) => {
  const { count, repeats, receivers: most, behind, destinations } = options;
  const variants: Variant[] = [
    { name: `${OWN_RECEIVERS} receivers, nothing behind` },
    { name: `${Math.ceil(most / 100)} receivers`, registered: Math.ceil(most / 100) },
    { name: `${most} receivers`, registered: most },
    { name: `${behind} delayed deliveries behind`, behind },
    { name: `${destinations} destinations behind, one waiting delivery each`, destinations },
  ];
  await using cleanUp = new AsyncDisposableStack();
  const heralds: Herald[] = [];
  for (const variant of variants) {
    say(`growth, preparing ${variant.name}`);
    heralds.push(cleanUp.use(await startVariant(variant, count)));
  }
  const rounds = new Map<Variant, Round[]>();
  const floors: number[] = [];
  for (let round = 0; round <= repeats; round++) {
    say(round === 0 ? 'growth, warming up' : `growth, round ${round} of ${repeats}`);
    if (round > 0) floors.push((await measureFloor(Math.min(count, FLOOR_COUNT))).composed.perSecond);
    for (const { variant, measure } of heralds) {
      const measured = await measure();
      if (round > 0) rounds.set(variant, [...(rounds.get(variant) ?? []), measured]);
    }
  }
  const [smallest = []] = rounds.values();
  const rows = [...rounds].map(([{ name }, some]): Cell[] => {
    const ratio = (read: (round: Round) => number) =>
      median(some.map((round, index) => read(round) / read(smallest[index] ?? round)));
    const accepted = ({ acceptedPerSecond }: Round) => acceptedPerSecond;
    const drained = ({ drainedPerSecond }: Round) => drainedPerSecond;
    const ofFloor = median(some.map((round, index) => drained(round) / (floors[index] ?? NaN)));
    return [name, median(some.map(accepted)), ratio(accepted), median(some.map(drained)), ratio(drained), ofFloor];
  });
  const table = {
    title: `Growth: ${count} deliveries a round, median of ${repeats} interleaved rounds`,
    columns: ['deliveries/s', 'accepted', 'of the smallest', 'drained', 'of the smallest', 'of the floor'],
    rows,
    notes: [
      'Ratios are to the smallest in the same round. Accepted in batches at fan-out 10 while no worker runs; then one worker, started anew, drains it.',
      'Receivers are those of all workspaces; the measured one has ten.',
      'What waits at the destinations behind was tried once, in vain, by a worker, and is due in a day.',
    ],
  };
  return {
    tables: [table],
    raw: { rounds: Object.fromEntries([...rounds].map(([{ name }, some]) => [name, some])), floors },
    targets: judgeGrowth([...rounds].map(([{ name }, some]) => ({ name, rounds: some }))),
  };
};

/** Waits for its turn; a worker runs only while it drains. */
async function startVariant(variant: Variant, count: number): Promise<Herald> {
  await using cleanUp = new AsyncDisposableStack();
  const ca = await createCertificateAuthority();
  const redis = cleanUp.use(await startBenchRedis());
  const receivers = cleanUp.use(
    await startReceivers({ ca, behaviours: new Array(OWN_RECEIVERS).fill('ok') as 'ok'[] }),
  );
  const env = cleanUp.use(await createHeraldEnv(redis.url, ca));
  const api = cleanUp.use(await startApi({ env }));
  const { registered = OWN_RECEIVERS, behind = 0, destinations = 0 } = variant;
  await registerReceivers(redis.url, env.variables.SECRETS_KEY ?? '', registered - OWN_RECEIVERS);
  if (destinations > 0) await occupyDestinations(api.port, env, destinations);
  if (behind > 0) await addDelayed(api.port, redis.url, env, behind);
  const { origins } = receivers;
  const tasks = cleanUp.use(await startTasks({ apiPort: api.port, env, origins, tasks: TASKS }));
  const transitions = Math.ceil(count / OWN_RECEIVERS);
  const deliveries = transitions * OWN_RECEIVERS;
  let expected = 0;
  const measure = async (): Promise<Round> => {
    const startedAt = performance.now();
    await tasks.checkIn(transitions);
    const acceptedPerSecond = deliveries / ((performance.now() - startedAt) / 1_000);
    const before = expected;
    expected += deliveries;
    await using running = new AsyncDisposableStack();
    running.use(await startWorker({ env }));
    return { acceptedPerSecond, drainedPerSecond: await watch(receivers, before, expected) };
  };
  const stack = cleanUp.move();
  return { variant, measure, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Accepts deliveries of a separate workspace, and makes all of them wait for their second attempt. */
async function addDelayed(apiPort: number, redisUrl: string, env: HeraldEnv, count: number): Promise<void> {
  // Nothing listens there, and nothing calls.
  const origins = Array.from({ length: OWN_RECEIVERS }, (_, index) => `https://127.0.0.1:${40_001 + index}`);
  await using tasks = await startTasks({ apiPort, env, origins, tasks: TASKS, workspace: 'ws_behind' });
  await tasks.checkIn(Math.ceil(count / OWN_RECEIVERS));
  await delayPending(redisUrl);
}

/** Deliveries per second, from the first seen arrival on. */
async function watch(receivers: Receivers, before: number, expected: number): Promise<number> {
  const seenFirst = await waitFor('the first delivery', receivers.count, {
    until: (seen) => seen > before,
    deadlineMs: DEADLINE_MS,
  });
  const firstAt = Date.now();
  await waitFor('all deliveries', receivers.count, { until: (seen) => seen >= expected, deadlineMs: DEADLINE_MS });
  const lastAt = Math.max(...(await receivers.read()).map((state) => state.lastAt));
  return (expected - seenFirst) / ((lastAt - firstAt) / 1_000);
}

const PER_WORKSPACE = 10;
const AT_A_TIME = 500;

/** Registers receivers of other workspaces directly in the store: by the API a hundred thousand would take minutes. */
async function registerReceivers(redisUrl: string, secretsKey: string, count: number): Promise<void> {
  const redis = await connectRedis({
    target: { kind: 'single', url: redisUrl },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const cipher = createSecretCipher([Buffer.from(secretsKey, 'base64')]);
    const store = createReceiverStore({ redis, keyspace: createKeyspace(1) });
    for (let start = 0; start < count; start += AT_A_TIME) {
      const some = Array.from({ length: Math.min(AT_A_TIME, count - start) }, (_, index) => start + index);
      await Promise.all(
        some
          .map(buildReceiver)
          .map((receiver) => store.register(receiver, cipher.encrypt(newSigningSecret(), receiver.id))),
      );
    }
  } finally {
    await closeRedis(redis);
  }
}

function buildReceiver(index: number): Endpoint {
  const workspaceId = `ws_other${Math.floor(index / PER_WORKSPACE)}`;
  const url = `https://receiver${index}.example.com/hook`;
  const createdAt = Date.now();
  return {
    id: newReceiverId(createdAt),
    workspaceId,
    url,
    events: [],
    description: '',
    enabled: true,
    createdAt,
  };
}

const DELAYED_AT_A_TIME = 1_000;
const DAY_MS = 86_400_000;

const DELAY_LUA = /* lua */ `
-- Let the first attempt of waiting deliveries of one group have failed, so that they are due later, one after the other.
-- KEYS[1] the group's waiting deliveries (zset)
-- ARGV[1] prefix   ARGV[2] group   ARGV[3] now (ms)   ARGV[4] score of the first   ARGV[5] at most so many
-- Returns how many.
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
local now, entries = tonumber(ARGV[3]), {}
for index, id in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', CLASS + now, 'BYSCORE', 'LIMIT', 0, ARGV[5])) do
  local score = tonumber(ARGV[4]) + index
  redis.call('HSET', prefix .. 'd:' .. id, 'due', score - CLASS, 'n', 1)
  entries[index] = { ARGV[2], id, score }
end
enqueue(entries, now)
return #entries
`;

/** Makes every waiting delivery one with a failed first attempt, due in a day. No worker may run. */
async function delayPending(redisUrl: string): Promise<void> {
  const redis = await connectRedis({
    target: { kind: 'single', url: redisUrl },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const [keys] = createKeyspace(1).shards;
    if (!keys) throw new Error('one shard has keys');
    const delay = defineScript(redis, DELAY_LUA);
    const now = Date.now();
    let delayed = 0;
    for (const key of await redis.keys(keys.queue.waiting('*'))) {
      const group = key.slice(keys.queue.waiting('').length);
      for (let some = DELAYED_AT_A_TIME; some === DELAYED_AT_A_TIME; delayed += some) {
        const score = scoreOf('usual', now + DAY_MS + delayed);
        some = Number(await delay([key], [keys.prefix, group, now, score, DELAYED_AT_A_TIME]));
      }
    }
  } finally {
    await closeRedis(redis);
  }
}

const OCCUPIED_WITHIN_MS = 1_800_000;

/**
 * Accepts one delivery for each of many destinations. After a failed attempt it waits for a day. Everything goes
 * through the API and a worker, so it works with any build. The destinations are the callbacks of as many Tasks.
 */
async function occupyDestinations(apiPort: number, env: HeraldEnv, count: number): Promise<void> {
  await using host = await startHangingUp();
  const callbackUrl = (index: number) => `https://${loopbackAddress(index)}:${host.port}/hook`;
  const { executorKey, workspaces } = await prepareWorkspaces(apiPort, env, [
    { id: 'ws_destinations', receivers: [], tasks: count, callbackUrl },
  ]);
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  await using executor = openApiClient({ port: apiPort, key: executorKey, connections: 8 });
  const items = taskIds.flatMap((taskId): ReportedItem[] => [
    { taskId, report: START },
    { taskId, report: checkIn('once') },
  ]);
  await reportInBatches(executor, items, { batch: 100, width: 8 });
  // It stops in order, and so records what it has learned about the destinations.
  await using worker = await startWorker({ env, variables: { RETRY_SCHEDULE: '1d' } });
  await waitFor('every destination to be tried', () => worker.hasExited() || host.tried() >= count, OCCUPIED_WITHIN_MS);
  if (worker.hasExited()) throw new Error(`the worker ended\n${worker.tail()}`);
}

type HangingUp = AsyncDisposable & { readonly port: number; readonly tried: () => number };

/** A port at every loopback address that closes each connection at once. */
async function startHangingUp(): Promise<HangingUp> {
  const addresses = new Set<string>();
  const server = createServer((socket) => {
    addresses.add(socket.localAddress ?? '');
    socket.on('error', () => undefined).resetAndDestroy();
  });
  server.listen(0, '0.0.0.0', 1_024);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    tried: () => addresses.size,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** From 127.1.0.0 on; all of 127.0.0.0/8 is this machine on Linux. */
function loopbackAddress(index: number): string {
  return `127.${1 + Math.floor(index / 65_536)}.${Math.floor(index / 256) % 256}.${index % 256}`;
}
