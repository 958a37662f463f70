import { callbackIdOf } from '@herald/core';
import { createAuditFollower, createAuditTrail, type AuditEntry } from '@herald/store/access/audit-trail';
import { createKeyspace, createShardKeys } from '@herald/store/keys/keys';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { startPostgres, waitFor } from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import type { CommandDeps } from '../../../apps/cli/src/context/command-deps.ts';
import { createProgram } from '../../../apps/cli/src/create-program.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

/** Every command: the action that it records when it has changed something, or that it only reads. */
const RECORDS = {
  doctor: 'reads',
  queues: 'reads',
  audit: 'reads',
  'receivers list': 'reads',
  'receivers test': 'testReceiver',
  'receivers disable': 'disableReceiver',
  'receivers pause': 'pauseReceiver',
  'receivers resume': 'resumeReceiver',
  'receivers enable': 'enableReceiver',
  'deliveries list': 'reads',
  'deliveries show': 'reads',
  'deliveries redeliver': 'redeliverDelivery',
  'deliveries cancel': 'cancelDeliveries',
  'deliveries purge': 'purgeDeliveries',
  'replay start': 'replayDeliveries',
  'replay show': 'reads',
  'replay stop': 'stopReplay',
  'keys create': 'createKey',
  'keys list': 'reads',
  'keys revoke': 'revokeKey',
  'keys find': 'reads',
  'links list': 'reads',
  'links revoke': 'revokePortalLink',
  'accounts mend': 'mendAccounts',
  'shards reshard': 'reshard',
  'secrets reencrypt': 'reencryptSecrets',
  'secrets forget': 'forgetSecretsKey',
  'history migrate': 'migrateHistory',
  'history adopt': 'adoptHistory',
  'history retention': 'setHistoryRetention',
  'history forget': 'forgetHistory',
  'history status': 'reads',
} satisfies Record<string, string>;

const SHARDS = '3';
const USER = userInfo().username;

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { SHARDS, RETRY_SCHEDULE: '1h' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

const run = (...args: readonly string[]) => runCli(args, { ...herald.topology.env, SHARDS });

async function readTrail({ redis }: Herald, shardCount: number): Promise<readonly AuditEntry[]> {
  const trail = createAuditTrail({ redis, keyspace: createKeyspace(shardCount), length: 10_000, now: Date.now });
  return (await trail.list({ limit: 1_000 })).entries;
}

/** What was recorded meanwhile, the newest first. */
async function recordedBy(work: () => Promise<unknown>, of = herald, shardCount = Number(SHARDS)) {
  const before = new Set((await readTrail(of, shardCount)).map(({ id }) => id));
  await work();
  return (await readTrail(of, shardCount)).filter(({ id }) => !before.has(id));
}

async function startScene() {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([200]);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  return { workspace, receiver, registered, deliveries: createDeliveryClient(workspace) };
}

test('every command says whether it changes something, and what it records then', () => {
  const program = createProgram({} as CommandDeps, process);
  const namesOf = (command: typeof program, name: string): string[] =>
    command.commands.length === 0
      ? [name]
      : command.commands.flatMap((each) => namesOf(each, `${name} ${each.name()}`));
  const names = program.commands.flatMap((command) => namesOf(command, command.name()));
  expect(names.sort()).toEqual(Object.keys(RECORDS).sort());
});

/** Commands that were run, and what each has recorded. */
const ran = new Set<string>();
async function expectRecorded(
  command: keyof typeof RECORDS,
  args: readonly string[],
  entry: Partial<AuditEntry>,
  { action = RECORDS[command], in: of = herald, shardCount = Number(SHARDS), env = {} } = {},
) {
  let out = '';
  const entries = await recordedBy(
    async () => {
      const { code, stdout, stderr } = await runCli([...command.split(' '), ...args], {
        ...of.topology.env,
        SHARDS,
        ...env,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      out = stdout;
    },
    of,
    shardCount,
  );
  const [{ id, at } = { id: '', at: 0 }] = entries;
  expect(entries).toStrictEqual([{ id, at, by: 'cli', user: USER, action, ...entry }]);
  expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
  ran.add(command);
  return out;
}

test('commands about receivers and deliveries leave one entry each when they change something, and none when not', async () => {
  const { workspace, registered, deliveries } = await startScene();
  const about = { target: registered.id, workspaceId: workspace.id };
  const emitted = await deliveries.emit({ callback: { url: registered.url } });
  await deliveries.waitForStatus(emitted.to(registered), 'delivered');

  await expectRecorded('receivers test', [registered.id], about);
  await expectRecorded('receivers disable', [registered.id], about);
  expect(await recordedBy(() => run('receivers', 'disable', registered.id))).toEqual([]);
  expect(await recordedBy(() => run('deliveries', 'redeliver', emitted.to(registered)))).toEqual([]);
  expect(await recordedBy(() => run('replay', registered.id, '--since', '1h'))).toEqual([]);
  await expectRecorded('receivers enable', [registered.id, '--json'], about);
  expect(await recordedBy(() => run('receivers', 'enable', registered.id))).toEqual([]);
  const locking = [registered.id, '--lock', '--reason', 'It floods us.'];
  const reason = 'It floods us.';
  await expectRecorded('receivers disable', locking, { ...about, reason }, { action: 'lockReceiver' });
  expect(await recordedBy(() => run('receivers', 'disable', ...locking))).toEqual([]);
  await expectRecorded('receivers enable', [registered.id], about, { action: 'unlockReceiver' });
  await expectRecorded('receivers pause', [registered.id, '--reason', reason], { ...about, reason });
  expect(await recordedBy(() => run('receivers', 'pause', registered.id, '--reason', reason))).toEqual([]);
  await expectRecorded('receivers resume', [registered.id], about);
  expect(await recordedBy(() => run('receivers', 'resume', registered.id))).toEqual([]);
  const callback = { target: callbackIdOf(emitted.taskId), workspaceId: workspace.id };
  await expectRecorded('receivers disable', [callback.target], callback, { action: 'disableCallback' });
  await expectRecorded('receivers enable', [callback.target], callback, { action: 'enableCallback' });

  const id = emitted.to(registered);
  await expectRecorded('deliveries redeliver', [id], { target: id, workspaceId: workspace.id });
  const args = [registered.id, '--since', '1h', '--status', 'delivered', '--json'];
  const replay = JSON.parse(await expectRecorded('replay start', args, about)) as { id: string; status: string };
  expect(replay.status).toBe('done');
  expect(await recordedBy(() => run('replay', 'stop', replay.id))).toEqual([]);

  const filter = ['--workspace', workspace.id];
  expect(await recordedBy(() => run('deliveries', 'cancel', ...filter))).toEqual([]);
  const said = filter.join(' ');
  const canceled = { target: `${said} --status pending`, workspaceId: workspace.id };
  await expectRecorded('deliveries cancel', [...filter, '--yes'], canceled);
  await expectRecorded('deliveries purge', [...filter, '--yes'], { target: said, workspaceId: workspace.id });

  const { pending } = createKeyspace(Number(SHARDS)).of(workspace.id);
  await herald.redis.zadd(pending, 7, workspace.id);
  expect(await recordedBy(() => run('accounts', 'mend', ...filter))).toEqual([]);
  await expectRecorded('accounts mend', [...filter, '--yes'], { workspaceId: workspace.id });
  expect(await herald.redis.zscore(pending, workspace.id)).toBeNull();
  expect(await recordedBy(() => run('accounts', 'mend', ...filter, '--yes'))).toEqual([]);
});

test('a replay that is stopped, and keys, leave one entry each', async () => {
  const { workspace, registered } = await startScene();
  const about = { workspaceId: workspace.id };
  await Promise.all(herald.workers.map((worker) => worker.stop()));
  const { stdout } = await run('replay', registered.id, '--since', '1h', '--no-wait', '--json');
  const { id } = JSON.parse(stdout) as { id: string };
  await expectRecorded('replay stop', [id], { ...about, target: id });
  await herald.startWorker();

  const made = await run('keys', 'create', '--workspace', workspace.id, '--json');
  const key = JSON.parse(made.stdout) as { id: string };
  const [entry] = await readTrail(herald, Number(SHARDS));
  expect(entry).toMatchObject({ ...about, by: 'cli', action: 'createKey', target: key.id });
  ran.add('keys create');
  await expectRecorded('keys revoke', [key.id], { ...about, target: key.id });
  expect(await recordedBy(() => run('keys', 'revoke', key.id))).toEqual([]);
  const link = await workspace.request('POST', '/api/public/portal-links', { body: {} });
  const { id: linkId } = bodyOf(link, 201) as { id: string };
  await expectRecorded('links revoke', [linkId], { ...about, target: linkId });
  expect(await recordedBy(() => run('links', 'revoke', linkId))).toEqual([]);
  const ofExecutor = await recordedBy(() => run('keys', 'create', '--executor'));
  expect(ofExecutor).toMatchObject([{ action: 'createKey' }]);
  expect(ofExecutor[0]).not.toHaveProperty('workspaceId');
  // With any SHARDS, it goes where the data is.
  const wrong = { ...herald.topology.env, SHARDS: '1' };
  expect(await recordedBy(() => runCli(['keys', 'create', '--workspace', workspace.id], wrong))).toHaveLength(1);
  const { stdout: own } = await run('audit', '--workspace', workspace.id, '--json');
  expect((JSON.parse(own) as { action: string }[]).map(({ action }) => action)).toEqual([
    ...['createKey', 'revokePortalLink', 'createPortalLink', 'revokeKey', 'createKey'],
    ...['stopReplay', 'replayDeliveries', 'registerReceiver'],
  ]);
});

test('what is done while nothing runs leaves one entry, where the data is afterwards', async () => {
  await using postgres = await startPostgres();
  const [old, next, lost] = Array.from({ length: 3 }, () => randomBytes(32));
  const textOf = (...keys: readonly (Buffer | undefined)[]) =>
    keys.map((key) => key?.toString('base64') ?? '').join(',');
  const fingerprintOf = (key = Buffer.alloc(32)) => createSecretCipher([key]).fingerprints[0];
  await using other = await startHerald({ workers: 0, env: { SHARDS: '2', SECRETS_KEY: textOf(old) } });
  await other.apis[0]?.stop();
  const where = (env: Record<string, string>) => ({ in: other, shardCount: 2, env: { SHARDS: '2', ...env } });

  const both = where({ SECRETS_KEY: textOf(next, old) });
  await expectRecorded('secrets reencrypt', [], { target: fingerprintOf(next) }, both);
  const again = () => runCli(['secrets', 'reencrypt'], { ...other.topology.env, ...both.env });
  expect(await recordedBy(again, other, 2)).toEqual([]);
  await (await other.startApi({ SECRETS_KEY: textOf(lost, next) })).stop();
  const target = fingerprintOf(lost);
  await expectRecorded('secrets forget', [target], { target }, where({ SECRETS_KEY: textOf(next) }));

  const migrating = where({ HISTORY_URL: postgres.url });
  await expectRecorded('history migrate', [], { target: expect.stringMatching(/^0001_/) as string }, migrating);
  const migrate = () => runCli(['history', 'migrate'], { ...other.topology.env, ...migrating.env });
  expect(await recordedBy(migrate, other, 2)).toEqual([]);
  const status = () => runCli(['history', 'status'], { ...other.topology.env, ...migrating.env });
  expect(await recordedBy(status, other, 2)).toEqual([]);

  const resharding = { ...where({}), shardCount: 5 };
  const earlier = await readTrail(other, 2);
  await expectRecorded('shards reshard', ['--to', '5'], { target: '2 to 5 shards' }, resharding);
  expect((await readTrail(other, 5)).slice(1)).toEqual(earlier);
  const inPlace = () => runCli(['shards', 'reshard', '--to', '5'], { ...other.topology.env, SHARDS: '2' });
  expect(await recordedBy(inPlace, other, 5)).toEqual([]);

  // A worker copies all of it to the history, where it is found when Redis has lost it.
  const env = { SHARDS: '5', HISTORY_URL: postgres.url };
  await other.startWorker({ ...env, SECRETS_KEY: textOf(next) });
  const trail = await readTrail(other, 5);
  const follower = createAuditFollower({
    redis: other.redis,
    keys: createKeyspace(5).shards[0] ?? createShardKeys(''),
  });
  await waitFor('the trail to be copied', () => follower.next('history', 1), {
    until: ({ entries }) => entries.length === 0,
  });
  for (const { audit } of createKeyspace(5).shards) await other.redis.del(audit);
  const { stdout } = await runCli(['audit', '--json'], { ...other.topology.env, ...env });
  expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(trail.map(({ id }) => id));

  const adopting = { in: other, shardCount: 5, env };
  await expectRecorded('history adopt', [], { target: expect.any(String) as string }, adopting);
  await expectRecorded('history retention', ['--yes'], { target: String(90 * 86_400_000) }, adopting);
  await expectRecorded('history forget', [], {}, adopting);
}, 90_000);

test('all commands that change something were run above', () => {
  expect([...ran].sort()).toEqual(
    Object.entries(RECORDS)
      .filter(([, action]) => action !== 'reads')
      .map(([command]) => command)
      .sort(),
  );
});

test('reading leaves no entry', async () => {
  const { registered, deliveries } = await startScene();
  const id = (await deliveries.emit()).to(registered);
  await deliveries.waitForStatus(id, 'delivered');
  const replay = await run('replay', registered.id, '--since', '1h', '--json');
  const byId = (await readTrail(herald, Number(SHARDS))).find(({ by }) => by.startsWith('key_'))?.by;
  const args: Record<string, readonly string[]> = {
    'deliveries list': ['--receiver', registered.id],
    'deliveries show': [id],
    'keys find': [String(byId)],
    'replay show': [(JSON.parse(replay.stdout) as { id: string }).id],
  };
  const reading = Object.entries(RECORDS).filter(
    ([command, action]) => action === 'reads' && command !== 'history status',
  );
  const codes: Record<string, number> = {};
  const read = async () => {
    for (const [command] of reading) {
      codes[command] = (await run(...command.split(' '), ...(args[command] ?? []))).code;
    }
  };
  expect(await recordedBy(read)).toEqual([]);
  expect(codes).toEqual(Object.fromEntries(reading.map(([command]) => [command, command === 'doctor' ? 1 : 0])));
});

test('an entry that cannot be written is said, and fails a command that has done what it was asked for', async () => {
  const { workspace, registered } = await startScene();
  const { audit } = createKeyspace(Number(SHARDS)).of(workspace.id);
  await herald.redis.rename(audit, `${audit}:aside`);
  await herald.redis.set(audit, 'damaged');
  const created = await run('keys', 'create', '--workspace', workspace.id);
  expect(created).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^hrld_/) as string,
    stderr: expect.stringMatching(/^This is done, but the audit trail doesn't say so\. Redis refused: /) as string,
  });
  const disabled = await run('receivers', 'disable', registered.id, '--json');
  expect(disabled).toMatchObject({ code: 1, stderr: expect.stringContaining('audit trail') as string });
  expect(JSON.parse(disabled.stdout)).toMatchObject({ id: registered.id, enabled: false, changed: true });
  await herald.redis.rename(`${audit}:aside`, audit);
});

test('herald audit shows who did what, by workspace, doer and time, and that there is more', async () => {
  const { workspace, registered } = await startScene();
  for (const command of ['disable', 'enable', 'disable']) await run('receivers', command, registered.id);
  const of = ['audit', '--workspace', workspace.id];
  const { stdout } = await run(...of, '--since', '1h', '--by', 'cli');
  const [columns, ...rows] = stdout.split('\n').map((line) => line.split('\t'));
  expect(columns).toEqual(['when', 'who', 'what', 'on what', 'workspace', 'from', 'request']);
  expect(rows.map((row) => row.slice(1))).toEqual(
    ['disableReceiver', 'enableReceiver', 'disableReceiver'].map((action) => [
      ...[`cli ${USER}`, action, registered.id, workspace.id, '', ''],
    ]),
  );
  const [{ id } = { id: '' }] = JSON.parse((await run(...of, '--json')).stdout) as { id: string }[];
  await herald.waitForLog(`"id":"${id}"`, herald.workers.at(-1));
  const more = await run(...of, '--limit', '2');
  expect(more.stdout.split('\n')).toHaveLength(3);
  expect(more.stderr).toContain('There may be more than these 2');
  expect(JSON.parse((await run(...of, '--by', 'key_00', '--json')).stdout)).toEqual([]);
  expect((await run(...of, '--by', 'operator')).stderr).toContain('Nobody has changed anything');
  expect((await run('audit', '--by', 'ann')).stderr).toContain('must be the id of a key (key_…)');
});
