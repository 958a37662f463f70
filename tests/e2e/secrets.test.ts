import { dumpRedis, toText } from '../support/redis-dump.ts';
import { actionRequired, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald } from '../support/start-herald.ts';

/** Every spelling in which a secret could slip out. */
function spellingsOf(secret: string): string[] {
  const encoded = secret.replace(/^whsec_/, '');
  const bytes = Buffer.from(encoded, 'base64');
  return [
    encoded,
    bytes.toString('hex'),
    bytes.toString('base64url'),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
    bytes.toString('latin1'),
    encodeURIComponent(encoded),
  ];
}

function findIn(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap(spellingsOf).filter((spelling) => text.includes(spelling));
}

test("a signing secret is in its registration's answer and nowhere else", async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '10ms', LOG_LEVEL: 'debug' } });
  const workspace = await herald.createWorkspace();
  const [good, failing, callback] = [
    await herald.startReceiver(),
    await herald.startReceiver([500, 'reset']),
    await herald.startReceiver(),
  ];
  const first = await workspace.registerReceiver({ url: good.url });
  const second = await workspace.registerReceiver({ url: failing.url });
  const task = await workspace.createTask({ callback: { url: callback.url } });
  const secrets = [first.secret, second.secret, task.callback?.secret ?? ''];
  expect(new Set(secrets).size).toBe(3);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_/);

  const path = `/api/public/webhooks/${first.id}`;
  await herald.executor.report(task.id, START, checkpoint('c1'), actionRequired(1), DONE);
  const answers = [
    await workspace.request('GET', '/api/public/webhooks'),
    await workspace.request('GET', path),
    await workspace.request('PATCH', path, { body: { description: 'changed' } }),
    await workspace.request('PATCH', path, { body: { secret: first.secret.slice(0, 10) } }),
    await workspace.sendTest(first.id),
    await workspace.sendTest(second.id),
    await workspace.request('GET', `/tasks/${task.id}`),
    await herald.executor.request('GET', `/api/internal/tasks/${task.id}`),
    await herald.executor.request('GET', '/api/internal/tasks?status=done'),
  ];
  await herald.settled();
  expect(failing.requests.length).toBeGreaterThan(3);

  const seenByReceivers = [good, failing, callback]
    .flatMap(({ requests }) => requests)
    .map(({ headers, rawBody, path: where }) => `${where} ${JSON.stringify(headers)} ${rawBody.toString()}`);
  const redis = toText(await dumpRedis(herald.redis));
  expect(redis).toContain(first.id);
  expect(herald.logs()).toContain(first.id);
  expect({
    answers: findIn(answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n'), secrets),
    logs: findIn(herald.logs(), secrets),
    redis: findIn(redis, secrets),
    deliveries: findIn(seenByReceivers.join('\n'), secrets),
  }).toEqual({ answers: [], logs: [], redis: [], deliveries: [] });
});

test('an API key, in whole or in part, and a url with its path are in no log, and no key is in Redis', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([500]);
  await workspace.registerReceiver({ url: `${receiver.origin}/hook/path-token?token=query-token` });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  await herald.settled();
  await herald.request('GET', '/api/public/webhooks?token=query-token', { key: 'hrld_wrong-key-canary' });

  const logs = herald.logs();
  expect(logs).toContain('delivery.attempted');
  for (const secret of [
    workspace.key.slice(5),
    herald.executor.key.slice(5),
    'wrong-key-canary',
    'path-token',
    'query-token',
  ]) {
    expect(logs).not.toContain(secret);
  }
  const redis = toText(await dumpRedis(herald.redis));
  for (const key of [workspace.key, herald.executor.key]) expect(redis).not.toContain(key.slice(5));
});
