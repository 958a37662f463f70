import { waitFor } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf, type HttpAnswer } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { actionRequired, START } from '../../support/reports.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald } from '../../support/start-herald.ts';

test('with no replica left no change is acknowledged; asked again when there is one, each stands', async () => {
  const replicated = { REDIS_MIN_REPLICAS: '1' };
  await using herald = await startHerald({ topology: 'sentinel', env: replicated });
  const workspace = await herald.createWorkspace();
  const { request, createTask, registerReceiver } = workspace;
  const { url, ...endpoint } = await herald.startReceiver();
  const [kept, changed] = [await registerReceiver({ url }), await registerReceiver({ url })];
  const [switched, removed] = [await registerReceiver({ url, enabled: false }), await registerReceiver({ url })];
  const tasks = await Promise.all(Array.from({ length: 3 }, () => createTask({ callback: { url } })));
  const [started = '', canceled = '', asking = ''] = tasks.map(({ id }) => id);
  await herald.executor.report(asking, START, actionRequired(1));
  const delivery = (await createDeliveryClient(workspace).emit()).to(kept);
  await waitFor('the delivery', () =>
    endpoint.requests.some(({ headers }) => headers['x-service-delivery'] === delivery),
  );

  const of = ({ id }: { id: string }) => `/api/public/webhooks/${id}`;
  const since = new Date(0).toISOString();
  const replay = bodyOf(await request('POST', `${of(kept)}/replay`, { body: { since } }), 202) as { id: string };
  const keyed = { body: { url }, headers: { 'idempotency-key': 'once' } };
  const asks: Record<string, () => Promise<HttpAnswer>> = {
    'a transition': () => herald.executor.tryReport(started, START),
    'a Task': () => request('POST', '/tasks', { body: {} }),
    'a message': () => request('POST', `/tasks/${started}/messages`, { body: { text: 'hello' } }),
    'a decision': () => workspace.resolve(asking, 'pay', { decision: 'yes', actionVersion: 1 }),
    'a cancellation': () => request('POST', `/tasks/${canceled}/cancel`),
    'a receiver': () => request('POST', '/api/public/webhooks', { body: { url } }),
    'a receiver with an Idempotency-Key': () => request('POST', '/api/public/webhooks', keyed),
    'a change': () => request('PATCH', of(changed), { body: { description: 'new' } }),
    'a switch': () => request('PATCH', of(switched), { body: { enabled: true } }),
    'a removal': () => request('DELETE', of(removed)),
    'a rotation': () => request('POST', `${of(changed)}/secret/rotate`, { body: {} }),
    'a rotation of a callback': () => request('POST', `/tasks/${started}/callback/secret/rotate`, { body: {} }),
    'a redelivery': () => request('POST', `/api/public/deliveries/${delivery}/redeliver`),
    'a replay': () => request('POST', `${of(kept)}/replay`, { body: { since } }),
    "a replay's end": () => request('DELETE', `/api/public/replays/${replay.id}`),
  };
  const askAll = async () => Promise.all(Object.entries(asks).map(async ([name, ask]) => [name, await ask()] as const));
  const env = { ...herald.topology.env, ...replicated };
  const made = await runCli(['keys', 'create', '--workspace', workspace.id, '--json'], env);
  const { id: keyId } = JSON.parse(made.stdout) as { id: string };
  const keysCommands = [
    ['keys', 'create', '--executor'],
    ['keys', 'revoke', keyId],
  ];

  const { pid } = await herald.topology.findReplica();
  process.kill(pid, 'SIGSTOP');
  const refused = await askAll();
  // Duplicates by now, and no more certain than before.
  const repeated = await askAll();
  const refusedCommands = await Promise.all(keysCommands.map((args) => runCli(args, env)));
  process.kill(pid, 'SIGCONT');
  for (const [name, answer] of [...refused, ...repeated]) {
    expect([name, problemOf(answer)]).toMatchObject([name, { status: 503, code: 'unavailable' }]);
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  }
  for (const { code, stderr } of refusedCommands) {
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('too few replicas') as string });
  }

  const report = async () => (await asks['a transition']?.())?.body as { duplicate?: boolean };
  await waitFor('the replica to follow', report, { until: ({ duplicate }) => duplicate === true });
  // A replica that stands still for a second is one too few again: that is said, and asked once more.
  const statuses = await Promise.all(
    Object.entries(asks).map(async ([name, ask]) => {
      const until = ({ status }: { status: number }) => status !== 503;
      return [name, (await waitFor(name, ask, { until, deadlineMs: 30_000 })).status] as const;
    }),
  );
  expect(Object.fromEntries(statuses)).toEqual({
    ...Object.fromEntries(Object.keys(asks).map((name) => [name, 200])),
    'a Task': 201,
    'a receiver': 201,
    'a receiver with an Idempotency-Key': 201,
    'a redelivery': 202,
    'a replay': 202,
    // It was removed when nobody was told.
    'a removal': 404,
  });
  for (const args of keysCommands) expect(await runCli(args, env)).toMatchObject({ code: 0, stderr: '' });
}, 120_000);
