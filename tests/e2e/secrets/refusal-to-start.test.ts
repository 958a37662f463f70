import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { randomBytes } from 'node:crypto';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { runApp, runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { whoSigned } from '../../support/who-signed.ts';

jest.setTimeout(90_000);

const [A, B] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const nameOf = (key: string) => createSecretCipher([Buffer.from(key, 'base64')]).fingerprints[0];

const envOf = (herald: Herald, SECRETS_KEY: string) => ({
  ...herald.topology.env,
  SECRETS_KEY,
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
  PORT: '0',
  WORKER_PORT: '0',
});

test('API, worker and CLI with another key refuse to start with one sentence that names the missing key, and change nothing', async () => {
  await using herald = await startHerald({ workers: 0, env: { SECRETS_KEY: A } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const before = await dumpRedis(herald.redis);
  for (const app of ['api', 'worker'] as const) {
    const { code, stdout, stderr } = await runApp(app, envOf(herald, B));
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `Secrets in this Redis are encrypted with the key ${nameOf(A)}, which SECRETS_KEY doesn't list; add that key behind the first, separated by a comma.`,
    });
  }
  const { code, stdout, stderr } = await runCli(['secrets', 'reencrypt'], envOf(herald, B));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^No API encrypts with the key ${nameOf(B)}, .* nothing was changed\\..*$`));
  expect(await dumpRedis(herald.redis)).toEqual(before);
});

test('the CLI refuses a missing or malformed SECRETS_KEY with how to make one', async () => {
  for (const [key, command] of [
    ['', 'reencrypt'],
    ['short', 'reseal'], // the former word
  ] as const) {
    const { code, stdout, stderr } = await runCli(['secrets', command], { SECRETS_KEY: key });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/SECRETS_KEY must be .*openssl rand -base64 32/);
    expect(stderr).not.toContain('short');
  }
});

test('secrets of a version that recorded no key versions are found when the first process starts', async () => {
  await using herald = await startHerald({ workers: 0, env: { SECRETS_KEY: A } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  await herald.apis[0]?.stop();
  await herald.redis.del(shardKeys().keyVersions);
  expect((await runApp('api', envOf(herald, B))).stderr).toContain(`encrypted with the key ${nameOf(A)}`);
  await herald.startApi();
  expect(await herald.redis.hkeys(shardKeys().keyVersions)).toEqual([nameOf(A)]);
});

test('a worker that lacks the key of a secret puts its deliveries back, no try spent, and says what to do', async () => {
  await using herald = await startHerald({ env: { SECRETS_KEY: A, RETRY_SCHEDULE: '' } });
  const newer = await herald.startApi({ SECRETS_KEY: `${B},${A}` });
  const workspace = await herald.createWorkspace(newer);
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const emitted = await deliveries.emit();
  await herald.waitForLog(
    `the secret of ${registered.id} is encrypted with the key ${nameOf(B)}, which SECRETS_KEY doesn't list; add that key behind the first and restart`,
    herald.workers[0],
  );
  const waiting = await deliveries.read(emitted.to(registered));
  expect(waiting).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
  await herald.startWorker({ SECRETS_KEY: `${A},${B}` });
  await herald.workers[0]?.stop();
  const delivered = await deliveries.waitForStatus(emitted.to(registered), 'delivered', 40_000);
  expect(delivered).toMatchObject({ tries: 1, attempts: [{ status: 200 }] });
  const [request] = receiver.requests;
  if (!request) throw new Error('it was delivered');
  expect((await whoSigned(request, [registered.secret])).service).toEqual([registered.secret]);
});

test('secrets under two key versions sign at the same time', async () => {
  await using herald = await startHerald({ env: { SECRETS_KEY: `${A},${B}` } });
  const other = await herald.startApi({ SECRETS_KEY: `${B},${A}` });
  const receiver = await herald.startReceiver();
  for (const [index, api] of [herald.apis[0], other].entries()) {
    const workspace = await herald.createWorkspace(api);
    const { secret } = await workspace.registerReceiver({ url: `${receiver.origin}/${index}` });
    await createDeliveryClient(workspace).emit();
    const request = await receiver.next();
    expect(request.path).toBe(`/${index}`);
    expect(await whoSigned(request, [secret])).toEqual({ service: [secret], standard: [secret] });
  }
  expect((await herald.redis.hkeys(shardKeys().keyVersions)).sort()).toEqual([nameOf(A), nameOf(B)].sort());
});
