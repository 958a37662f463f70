import { askRedis, freePort, startRedis } from '@herald/test-kit';
import { exec } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald } from '../../support/start-herald.ts';

jest.setTimeout(120_000);

/** The rules that docs/operating.md gives a user, without its password. */
async function readDocumentedRules(user: string): Promise<string[]> {
  const text = await readFile(new URL('../../../docs/operating.md', import.meta.url), 'utf8');
  return new RegExp(`^user ${user} on >\\w+ (.+)$`, 'm').exec(text)?.[1]?.split(' ') ?? [];
}

test('the user of docs/operating.md may do all that Herald does, and no more than its keys need', async () => {
  const rules = await readDocumentedRules('herald');
  expect(rules).toContain('+eval');
  const port = await freePort();
  const REDIS_URL = `redis://herald:hunter2@127.0.0.1:${port}`;
  await using herald = await startHerald({
    topology: 'single',
    redis: {
      port,
      appendonly: true,
      args: [
        ...['--maxmemory', '256mb', '--user', 'herald', 'on', '>hunter2', ...rules],
        ...['--user', 'backup', 'on', '>hunter3', ...(await readDocumentedRules('backup'))],
      ],
    },
    env: {
      REDIS_URL,
      RETRY_SCHEDULE: '10ms,10ms',
      RATE_LIMIT: '1000',
      SHARDS: '2',
      ...OPERATOR_ENV,
      OPERATOR_WRITE: 'true',
    },
  });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([500, 200]);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const deliveries = createDeliveryClient(workspace);

  const id = (await deliveries.emit()).to(registered);
  await deliveries.waitForStatus(id, 'delivered');
  expect((await workspace.sendTest(registered.id)).body).toMatchObject({ delivered: true });
  await deliveries.redeliver(id);
  await receiver.waitForCount(4);
  await herald.settled();
  const board = createOperatorClient(herald);
  expect(await board.readQueues('deliveries-0')).not.toHaveLength(0);
  const env = { REDIS_URL, SHARDS: '2' };
  const commands = [
    ['queues'],
    ['receivers', 'list'],
    ['receivers', 'disable', registered.id],
    ['receivers', 'enable', registered.id],
    ['deliveries', 'list', '--receiver', registered.id],
    ['replay', registered.id, '--since', '1h', '--status', 'delivered'],
    ['keys', 'create', '--executor'],
    ['keys', 'list'],
  ];
  for (const command of commands)
    expect(await runCli(command, env)).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('NOPERM') as string,
    });
  expect((await herald.request('GET', '/readyz')).status).toBe(200);
  await Promise.all([...herald.apis, ...herald.workers].map((each) => each.stop()));
  expect(await runCli(['shards', 'reshard', '--to', '3'], env)).toMatchObject({ code: 0 });
  const { stdout } = await runCli(['doctor', '--json'], { ...env, SHARDS: '3' });
  expect(JSON.parse(stdout)).toMatchObject({
    findings: expect.arrayContaining([
      { level: 'ok', check: 'redis', sentence: expect.any(String) as string },
    ]) as unknown,
  });
  // Also what was refused and went unnoticed.
  expect(await herald.redis.acl('LOG')).toEqual([]);
  for (const command of NOT_ALLOWED) {
    const [name = '', ...args] = command;
    expect(await herald.redis.acl('DRYRUN', 'herald', name, ...args)).toContain('no permissions');
  }

  // The backup of docs/backups.md, by the user of the guide, restored.
  await using folder = await mkdtempDisposable(join(tmpdir(), 'herald-backup-'));
  const backup = `redis-cli -u redis://backup:hunter3@127.0.0.1:${port} --rdb - > ${folder.path}/dump.rdb`;
  await promisify(exec)(backup);
  await using restored = await startRedis({ dir: folder.path });
  expect(await askRedis(restored.port, 'DBSIZE')).toBe(await askRedis(port, 'DBSIZE'));
});

const NOT_ALLOWED = [
  ['FLUSHALL'],
  ['KEYS', '*'],
  ['GET', 'of somebody else'],
  ['PUBLISH', 'of somebody else', 'x'],
  ['CONFIG', 'SET', 'maxmemory', '1'],
  ['ACL', 'LIST'],
  ['SHUTDOWN'],
];
