import { callbackIdOf, deliveryIdOf, newTaskId } from '@herald/core';
import { createKeyspace } from '@herald/store/keys/keys';
import { createSecretCipher, type SecretCipher } from '@herald/store/secrets/secret-cipher';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { launchProcess, waitFor, type ReceivedRequest } from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { shardKeys } from '../support/delivery-state.ts';
import { createExecutorClient } from '../support/executor-client.ts';
import { bodyOf } from '../support/http-request.ts';
import { checkpoint, DONE, START } from '../support/reports.ts';
import { runApp, runCli } from '../support/run-cli.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { entryPoint, type HeraldProcess } from '../support/start-herald-process.ts';
import { buildReceiver, buildTask, newWorkspaceId } from '../support/start-stores.ts';
import { whoSigned } from '../support/who-signed.ts';
import { expectNoInternalErrors, expectNothingLeft } from '../e2e/fleet/fleet.ts';

jest.setTimeout(240_000);

const [A, B] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const cipherOf = (key: string) => createSecretCipher([Buffer.from(key, 'base64')]);
const [nameA, nameB] = [cipherOf(A).fingerprints[0], cipherOf(B).fingerprints[0]];

/** Endpoints that lie there and get nothing: enough that re-encrypting takes a while. */
const IDLE = 30_000;
const ROUND_LIMIT = 20_000;

/** Replaces every process by one with another list of keys: a new one is there before the old one goes. */
async function roll(herald: Herald, front: { api: HeraldProcess }, SECRETS_KEY: string): Promise<void> {
  const living = (processes: readonly HeraldProcess[]) => processes.filter(({ process }) => !process.hasExited());
  const [oldApis, oldWorkers] = [living(herald.apis), living(herald.workers)];
  front.api = await herald.startApi({ SECRETS_KEY });
  for (const api of oldApis) await api.stop();
  for (const worker of oldWorkers) {
    await herald.startWorker({ SECRETS_KEY });
    await worker.stop();
  }
}

async function fillWithCallbacks(redis: RedisClient, cipher: SecretCipher, count: number): Promise<void> {
  const retention = createTaskRetention(86_400_000);
  const tasks = createTaskStore({ redis, keyspace: createKeyspace(1), retention });
  const workspaceId = newWorkspaceId();
  for (let done = 0; done < count; done += 500) {
    await Promise.all(
      Array.from({ length: 500 }, async () => {
        const task = buildTask(workspaceId, { id: newTaskId(Date.now()) });
        const endpoint = buildReceiver(workspaceId, { id: callbackIdOf(task.id) });
        await tasks.create(
          { ...task, callback: endpoint },
          { endpoint, encryptedSecret: cipher.encrypt(`whsec_${task.id}`, endpoint.id) },
        );
      }),
    );
  }
}

/** The header of its own that the endpoint with this path has. */
const headersFor = (path: string) => ({ authorization: `Bearer ${path}` });

/** Customers and an executor at work through whatever API is in front, until they are told to stop. */
async function startLoad(herald: Herald, front: { api: HeraldProcess }) {
  const via = Object.create(front.api, { origin: { get: () => front.api.origin } }) as HeraldProcess;
  const receiver = await herald.startReceiver();
  const [steady, churning] = [await herald.createWorkspace(via), await herald.createWorkspace(via)];
  const executor = createExecutorClient(herald.executor.key, (method, path, options) =>
    herald.request(method, path, { ...options, via }),
  );
  /** Path at the receiver → secrets that were given for it, newest first. */
  const secrets = new Map<string, string[]>();
  const expected = new Set<string>();
  const urlOf = (path: string) => receiver.origin + path;
  const register = async (workspace: typeof steady, path: string) => {
    const registered = await workspace.registerReceiver({ url: urlOf(path), headers: headersFor(path) });
    secrets.set(path, [registered.secret]);
    return registered;
  };
  const rotate = async (workspace: typeof steady, id: string, path: string, overlapSeconds: number) => {
    const answer = await workspace.request('POST', `/api/public/webhooks/${id}/secret/rotate`, {
      body: { overlapSeconds },
    });
    secrets.get(path)?.unshift((bodyOf(answer, 200) as { secret: string }).secret);
  };

  const fixed = await Promise.all(['/f0', '/f1', '/f2', '/f3'].map((path) => register(steady, path)));
  const [, switched, overlapping] = fixed;
  if (!switched || !overlapping) throw new Error('four were registered');
  await rotate(steady, overlapping.id, '/f2', 3_600);

  const stopping = new AbortController();
  let rounds = 0;
  const emit = async (index: number) => {
    const path = `/cb${index}`;
    const task = await steady.createTask({ callback: { url: urlOf(path), headers: headersFor(path) } });
    secrets.set(path, [task.callback?.secret ?? '']);
    for (const report of [START, checkpoint('c1'), DONE]) {
      const { transitionId } = await executor.report(task.id, report);
      if (report === START) continue;
      for (const { id } of [...fixed, { id: callbackIdOf(task.id) }]) expected.add(deliveryIdOf(transitionId, id));
    }
  };
  const churn = async (index: number) => {
    const path = `/c${index}`;
    const { id } = await register(churning, path);
    await createDeliveryClient(churning).emit();
    await rotate(churning, id, path, index % 2 ? 0 : 600);
    await rotate(steady, switched.id, '/f1', 0);
    await churning.request('DELETE', `/api/public/webhooks/${id}`);
  };
  const running = (async () => {
    for (; !stopping.signal.aborted && rounds < ROUND_LIMIT; rounds++) {
      await emit(rounds);
      if (rounds % 5 === 0) await churn(rounds);
    }
  })();
  running.catch(() => undefined); // awaited by stop
  return {
    receiver,
    secrets,
    expected,
    fixed,
    rounds: () => rounds,
    async stop() {
      stopping.abort();
      await running;
    },
    /** One more event, for a look at who signs now. */
    emitLast: () => emit(-1),
  };
}

/** Of each request the path, unless its signatures are by secrets that were given for that path. */
async function findBadlySigned(requests: readonly ReceivedRequest[], secrets: ReadonlyMap<string, string[]>) {
  const bad: string[] = [];
  for (const request of requests) {
    const { service, standard } = await whoSigned(request, secrets.get(request.path) ?? []);
    if (service.length !== 1 || standard.length === 0) bad.push(request.path);
  }
  return bad;
}

test('the key of all secrets is changed under load, process by process, with a re-encryption that is killed once: every signature verifies and nothing is lost', async () => {
  await using herald = await startHerald({ workers: 2, env: { SECRETS_KEY: A, LOG_LEVEL: 'info' } });
  const [api] = herald.apis;
  if (!api) throw new Error('one was started');
  const front = { api };
  await fillWithCallbacks(herald.redis, cipherOf(A), IDLE);
  const load = await startLoad(herald, front);
  const { env } = herald.topology;
  const countOf = async (name: string) => Number(await herald.redis.hget(shardKeys().keyVersions, name));
  const someMore = () => {
    const before = load.rounds();
    return waitFor('the load to go on', () => load.rounds() > before + 5, 60_000);
  };

  await someMore();
  await roll(herald, front, `${A},${B}`);
  await someMore();
  await roll(herald, front, `${B},${A}`);
  await someMore();

  const before = await countOf(nameB);
  const killed = await launchProcess({
    name: 'cli',
    command: process.execPath,
    args: [entryPoint('cli'), 'secrets', 'reencrypt'],
    env: { ...env, SECRETS_KEY: `${B},${A}` },
  });
  await waitFor(
    'the re-encryption to be in its middle',
    async () => (await countOf(nameB)) > before + IDLE / 20,
    30_000,
  );
  killed.kill('SIGKILL');
  expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
  expect(await countOf(nameB)).toBeLessThan(before + IDLE);
  expect(await herald.redis.hexists(shardKeys().keyVersions, nameA)).toBe(1);
  await someMore();

  const { code, stdout, stderr } = await runCli(['secrets', 'reencrypt'], { ...env, SECRETS_KEY: `${B},${A}` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    new RegExp(
      `^Re-encrypted \\d+ secrets with the key ${nameB}; now \\d+ secrets are encrypted with it\\.\n` +
        `No secret is left under the key ${nameA}: drop it from SECRETS_KEY everywhere\\.$`,
    ),
  );
  await someMore();
  await roll(herald, front, B);
  await someMore();
  await load.stop();
  await load.emitLast();
  await expectNothingLeft(herald.redis, 60_000);
  expectNoInternalErrors(herald);

  const { requests } = load.receiver;
  const received = new Set(requests.map(({ headers }) => headers['x-service-delivery']));
  expect([...load.expected].filter((id) => !received.has(id))).toEqual([]);
  expect(load.rounds()).toBeGreaterThan(35);
  expect(await findBadlySigned(requests, load.secrets)).toEqual([]);
  const bare = requests.filter(({ path, headers }) => headers.authorization !== headersFor(path).authorization);
  expect(bare).toEqual([]);
  // Rotated without an overlap while the re-encryption ran: the newest secret is the one in force, alone.
  const lastTo = (path: string) => requests.findLast((request) => request.path === path);
  const [switched, overlapping] = [lastTo('/f1'), lastTo('/f2')];
  if (!switched || !overlapping) throw new Error('both got the last event');
  const [newest = ''] = load.secrets.get('/f1') ?? [];
  expect(await whoSigned(switched, load.secrets.get('/f1') ?? [])).toEqual({ service: [newest], standard: [newest] });
  // In an overlap, both secrets were re-encrypted: the old one still signs, the new one beside it.
  const [second = '', first = ''] = load.secrets.get('/f2') ?? [];
  expect(await whoSigned(overlapping, [second, first])).toEqual({ service: [first], standard: [second, first] });

  for (const app of ['api', 'worker'] as const) {
    const refused = await runApp(app, {
      ...env,
      SECRETS_KEY: A,
      ACTION_URL_TEMPLATE: 'https://app.example.com/{taskId}',
      PORT: '0',
      WORKER_PORT: '0',
    });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`encrypted with the key ${nameB}, which SECRETS_KEY doesn't list`);
  }
});
