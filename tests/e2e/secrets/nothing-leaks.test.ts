import { randomBytes } from 'node:crypto';
import { waitFor } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { createLeakFinder } from '../../support/find-leaks.ts';
import { bodyOf, type HttpAnswer } from '../../support/http-request.ts';
import { basic, BOARD, OPERATOR_ENV } from '../../support/operator-client.ts';
import { dumpRedis, toText } from '../../support/redis-dump.ts';
import { actionRequired, checkpoint, DONE, START } from '../../support/reports.ts';
import { runApp, runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { CreatedTask } from '../../support/workspace-client.ts';
import { startRawServer } from '../../support/start-raw-server.ts';
import { shardKeys } from '../../support/delivery-state.ts';

jest.setTimeout(180_000);

/** What people read of the processes. One that isn't there answers 404, which is looked at as well. */
const PAGES = [
  { of: 'api', paths: ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/nothing'] },
  { of: 'api', paths: [BOARD, `${BOARD}/queue/deliveries`, `${BOARD}/api/queues`, `${BOARD}/api/redis/stats`] },
  {
    of: 'api',
    paths: ['latest', 'active', 'waiting', 'delayed', 'failed'].map(
      (status) => `${BOARD}/api/queues?activeQueue=deliveries&status=${status}&page=1&jobsPerPage=100`,
    ),
  },
  { of: 'worker', paths: ['/healthz', '/readyz', '/metrics', '/nothing'] },
] as const;

/** All pages of all living processes, and those of some deliveries; with an operator's credentials, and without. */
async function readPages(herald: Herald, deliveryIds: readonly string[]): Promise<string> {
  const texts: string[] = [];
  const ofDeliveries = deliveryIds.flatMap((id) =>
    ['', '/logs'].map((page) => `${BOARD}/api/queues/deliveries/${id}${page}`),
  );
  for (const { of, paths } of [...PAGES, { of: 'api', paths: ofDeliveries } as const]) {
    const processes = of === 'api' ? herald.apis : herald.workers;
    for (const { origin, process } of processes) {
      if (process.hasExited()) continue;
      for (const path of paths) {
        for (const headers of [basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD), {}]) {
          const answer = await fetch(origin + path, { headers, signal: AbortSignal.timeout(20_000) });
          texts.push(`${path} ${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`);
        }
      }
    }
  }
  return texts.join('\n');
}

const secretKeys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const strangeKey = randomBytes(32).toString('base64');
/** By its first 16 characters alone one is told from another: those count as found. */
const canary = (where: string) => `canary-${randomBytes(9).toString('hex')}-${where}`;

test('after an eventful run no secret, key, password, internal field or token of a url is in anything that was written', async () => {
  await using herald = await startHerald({
    workers: 2,
    redis: { appendonly: true },
    env: {
      ...OPERATOR_ENV,
      OPERATOR_WRITE: 'true',
      LOG_LEVEL: 'debug',
      SECRETS_KEY: secretKeys.join(','),
      RETRY_SCHEDULE: '100ms,300ms,1h',
      DELIVERY_TIMEOUT: '1s',
    },
  });
  const canaries = { internal: [] as string[], url: [canary('query'), canary('path')], broken: [canary('broken')] };
  const internal = (where: string) => {
    const text = canary(where);
    canaries.internal.push(text);
    return text;
  };
  const signing: string[] = [];
  const headerValues: string[] = [];
  const answers: HttpAnswer[] = [];
  const cli: { stdout: string; stderr: string }[] = [];
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const ask = async (method: string, path: string, options: object = {}) => {
    answers.push(await workspace.request(method, path, options));
  };

  // Receivers of all kinds, each with its secret; one whose url carries credentials.
  const good = await herald.startReceiver();
  const failing = await herald.startReceiver([500]);
  const echoing = await herald.startReceiver((request) => ({
    status: 502,
    body: JSON.stringify({ headers: request.headers, body: request.rawBody.toString() }),
  }));
  const resetting = await herald.startReceiver(['reset']);
  const hanging = await herald.startReceiver(['hang']);
  await using garbage = await startRawServer({
    ca: herald.ca,
    answer: (socket) => socket.end(randomBytes(200)),
  });
  const [query = '', path = ''] = canaries.url;
  const urls = [
    ...[good, failing, echoing, resetting, hanging].map(({ url }) => url),
    ...[garbage.url, `${failing.origin}/${path}?token=${query}`],
  ];
  const receivers = [];
  // Each has headers of its own, which the one that echoes sends back.
  const own = () => {
    const [token, tenant] = [canary('token'), canary('tenant')];
    headerValues.push(token, tenant);
    return { authorization: `Bearer ${token}`, 'x-tenant': tenant };
  };
  for (const url of urls) {
    const registration = { url, description: internal('description'), headers: own() };
    receivers.push(await workspace.registerReceiver(registration));
  }
  signing.push(...receivers.map(({ secret }) => secret));
  // Repeated under an idempotency key, the answer has lost its secret, and what is kept for that never had it.
  const registration = {
    body: { url: `${good.origin}/repeated`, headers: own() },
    headers: { 'idempotency-key': 'register-once' },
  };
  const answered = await workspace.request('POST', '/api/public/webhooks', registration);
  signing.push((bodyOf(answered, 201) as { secret: string }).secret);
  await ask('POST', '/api/public/webhooks', registration);
  expect(answers.at(-1)?.status).toBe(201);
  const creation = {
    body: { callback: { url: good.url, headers: own() } },
    headers: { 'idempotency-key': 'create-once' },
  };
  const created = bodyOf(await workspace.request('POST', '/tasks', creation), 201) as { callback: { secret: string } };
  signing.push(created.callback.secret);
  await ask('POST', '/tasks', creation);
  const [first, second, third] = receivers;
  if (!first || !second || !third) throw new Error('seven were registered');
  const rotate = async (where: string, overlapSeconds: number) => {
    const answer = await workspace.request('POST', where, { body: { overlapSeconds } });
    signing.push((bodyOf(answer, 200) as { secret: string }).secret);
  };

  // Tasks with internal fields wherever an executor may put some.
  const outcome = () => ({ summary: 'public', note: internal('outcome'), credentials: { token: internal('token') } });
  const runTask = async () => {
    const body = {
      input: { prompt: internal('input') },
      executionWorkspaceId: `ws_${internal('execution')}`,
      callback: { url: `${good.origin}/callback?token=${query}`, headers: own() },
    };
    // The platform says where it runs. A binding would be in the audit trail, which is for operators.
    const task = (await herald.askAsPlatform('POST', `${workspace.id}/tasks`, 201, body)) as CreatedTask;
    signing.push(task.callback?.secret ?? '');
    await herald.executor.report(task.id, START, checkpoint('c1', { outcome: outcome() }));
    await herald.executor.report(task.id, actionRequired(1, { outcome: outcome() }));
    await ask('POST', `/tasks/${task.id}/messages`, { body: { text: internal('message') } });
    await ask('POST', `/tasks/${task.id}/approvals/pay/resolve`, { body: { decision: 'yes', actionVersion: 1 } });
    await herald.executor.report(task.id, {
      ...DONE,
      outcome: outcome(),
      result: { answer: internal('result') },
      usage: { cost: internal('usage') },
    });
    return task;
  };
  const task = await runTask();
  await rotate(`/api/public/webhooks/${first.id}/secret/rotate`, 600);
  await rotate(`/api/public/webhooks/${second.id}/secret/rotate`, 0);
  await rotate(`/tasks/${task.id}/callback/secret/rotate`, 600);
  for (const { id } of receivers.slice(0, 4)) await ask('POST', `/api/public/webhooks/${id}/test`);
  const emitted = await deliveries.emit();
  await deliveries.waitForAttempts(emitted.to(second), 3, 40_000);
  await deliveries.waitForAttempts(emitted.to(third), 1, 40_000);

  // What is refused, with secrets wherever they don't belong.
  const revoked = await runCli(['keys', 'create', '--workspace', workspace.id], herald.topology.env);
  const listed = await runCli(['keys', 'list', '--json'], herald.topology.env);
  const { id: keyId = '' } = (JSON.parse(listed.stdout) as { id: string }[]).at(-1) ?? {};
  cli.push(listed, await runCli(['keys', 'revoke', keyId], herald.topology.env));
  const link = await workspace.request('POST', '/api/public/portal-links', { body: {} });
  const { id: linkId, token } = bodyOf(link, 201) as { id: string; token: string };
  const keys = [workspace.key, herald.executor.key, revoked.stdout, token];
  const [secret = ''] = signing;
  for (const misplaced of [...keys, secret]) {
    for (const [args, input] of [
      [['keys', 'find'], misplaced],
      [['keys', 'find', '--json'], misplaced],
      [['keys', 'find'], misplaced.slice(0, -1)],
      [['keys', 'find', misplaced]],
      [['keys', 'revoke', misplaced]],
      [['links', 'list']],
      [['links', 'revoke', misplaced]],
      [['deliveries', 'show', misplaced]],
    ] as const) {
      cli.push(await runCli(args, herald.topology.env, { ...(input !== undefined && { input }) }));
    }
    await ask('DELETE', `/api/public/portal-links/${encodeURIComponent(misplaced)}`);
    await ask('GET', '/api/public/portal-links');
    const text = encodeURIComponent(misplaced);
    await ask('GET', `/api/public/webhooks?token=${text}`);
    await ask('GET', `/api/public/webhooks/${text}`);
    await ask('GET', `/api/public/deliveries/${text}`);
    await ask('GET', `/tasks/${text}/deliveries`);
    await ask('GET', `/${text}/${misplaced}`);
    await ask('GET', '/tasks/none', { headers: { 'x-request-id': misplaced } });
    await ask('GET', '/tasks/none', { key: misplaced });
    await ask('POST', '/api/public/webhooks', { body: { url: `https://user:${text}@127.0.0.1/` } });
    await ask('POST', '/api/public/webhooks', { body: { url: good.url, secret: misplaced, events: [misplaced] } });
    await ask('POST', '/api/public/webhooks', { rawBody: `{"url": ${misplaced}, "secret": "${misplaced}` });
    await ask('POST', '/api/public/webhooks', { rawBody: misplaced });
    const headers = { host: misplaced, a: `${misplaced}\n` };
    await ask('POST', '/api/public/webhooks', { body: { url: good.url, headers } });
    await ask('POST', '/tasks', { rawBody: '{}', headers: { 'content-type': `text/${misplaced.slice(0, 20)}` } });
    const credentials = basic(OPERATOR_ENV.OPERATOR_USER, misplaced);
    answers.push(await herald.request('GET', BOARD, { headers: credentials }));
  }
  await ask('DELETE', `/api/public/portal-links/${linkId}`);
  const shown = receivers.map((receiver) => emitted.to(receiver));
  const during = await readPages(herald, shown);

  // Redelivery, replay, Redis away for a while, a record that can't be read, another key.
  await ask('POST', `/api/public/deliveries/${emitted.to(first)}/redeliver`);
  await ask('POST', `/api/public/webhooks/${second.id}/replay`, { body: { since: new Date(0).toISOString() } });
  await ask('PATCH', `/api/public/webhooks/${third.id}`, { body: { enabled: false, headers: own() } });
  await ask('PATCH', `/tasks/${task.id}/callback`, { body: { headers: own() } });
  await herald.server.kill();
  await ask('GET', '/api/public/webhooks');
  await herald.server.restart();
  await waitFor(
    'the API to be ready again',
    async () => (await herald.request('GET', '/readyz')).status === 200,
    30_000,
  );
  await waitFor('the test to be connected again', () => herald.redis.status === 'ready', 30_000);
  await runTask();
  const unreadable = await workspace.createTask();
  await herald.redis.hset(shardKeys().task(unreadable.id), 'input', canaries.broken[0] ?? '');
  const failed = await herald.executor.request('GET', `/api/internal/tasks/${unreadable.id}`);
  expect(failed.status).toBe(500);
  answers.push(failed);
  await herald.redis.del(shardKeys().task(unreadable.id));
  const env = { ...herald.topology.env, ACTION_URL_TEMPLATE: 'https://app.example.com/{taskId}' };
  for (const SECRETS_KEY of [strangeKey, strangeKey.slice(1), secretKeys.join(',')]) {
    cli.push(await runCli(['secrets', 'reencrypt', '--json'], { ...env, SECRETS_KEY }));
  }
  cli.push(await runApp('worker', { ...env, SECRETS_KEY: strangeKey, WORKER_PORT: '0' }));
  cli.push(await runApp('api', { ...env, SECRETS_KEY: strangeKey, PORT: '0' }));
  await ask('DELETE', `/api/public/webhooks/${third.id}`);
  await ask('GET', `/api/public/webhooks/${second.id}/deliveries`);
  await ask('GET', `/api/public/deliveries/${emitted.to(second)}`);
  const after = await readPages(herald, shown);
  await Promise.all([...herald.apis, ...herald.workers].map((process) => process.stop()));

  const finder = createLeakFinder(
    { signing, keys, secretsKey: [...secretKeys, strangeKey], password: [OPERATOR_ENV.OPERATOR_PASSWORD] },
    ['signing', 'secretsKey'],
  );
  const canaryFinder = createLeakFinder(canaries, []);
  const written = {
    logs: herald.logs(),
    pages: `${during}\n${after}`,
    cli: cli.map(({ stdout, stderr }) => stdout + stderr).join('\n'),
    redis: toText(await dumpRedis(herald.redis)),
    answers: answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n'),
    deliveries: [good, failing, echoing, resetting, hanging]
      .flatMap(({ requests }) => requests)
      .map(({ headers, rawBody }) => JSON.stringify(headers) + rawBody.toString())
      .join('\n'),
  };
  // There is something to be found in each, and the finder finds.
  for (const text of [written.logs, written.pages, written.redis, written.answers])
    expect(text).toContain(emitted.to(second));
  expect(written.pages).toMatch(/answered 502 after \d+ ms: /);
  expect(written.logs).toMatch(/"level":"debug"/);
  expect(finder.findIn(`x${secret}y ${Buffer.from(keys[0] ?? '').toString('hex')}`)).toEqual(['signing 0', 'keys 0']);
  const leaks = Object.fromEntries(Object.entries(written).map(([where, text]) => [where, finder.findIn(text)]));
  expect(leaks).toEqual({ logs: [], pages: [], cli: [], redis: [], answers: [], deliveries: [] });

  // Headers of customers reach their receivers, and nothing else.
  const headerFinder = createLeakFinder({ headers: headerValues }, []);
  expect(headerFinder.findIn(written.deliveries).length).toBeGreaterThan(10);
  const { deliveries: _sent, ...shownOrKept } = written;
  expect(Object.entries(shownOrKept).filter(([, text]) => headerFinder.findIn(text).length > 0)).toEqual([]);
  expect(written.answers).toContain('[authorization]');

  // What customers and executors put into their own records is in these alone, and in nothing else that is kept or shown.
  const { prefix } = shardKeys();
  const others = [...(await dumpRedis(herald.redis))].filter(
    ([key]) => !key.startsWith(`${prefix}t:`) && !key.startsWith(`${prefix}e:`),
  );
  const kept = others.map(([key, value]) => `${key} ${value}`).join('\n');
  expect(kept).toContain(emitted.to(second));
  expect({
    logs: canaryFinder.findIn(written.logs),
    pages: canaryFinder.findIn(written.pages),
    cli: canaryFinder.findIn(written.cli),
    kept: canaryFinder.findIn(kept),
    deliveries: canaryFinder.findIn(written.deliveries),
  }).toEqual({ logs: [], pages: [], cli: [], kept: [], deliveries: [] });
});
