import { askRedis, startProcess } from '@herald/test-kit';
import { runApp, runBuiltCli } from '../../support/run-cli.ts';
import { entryPoint, type Env } from '../../support/start-herald-process.ts';
import { PASSWORD, startWrongServers, type WrongServer, type WrongServers } from '../../support/wrong-redis.ts';

jest.setTimeout(90_000);

const OURS = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
  PORT: '0',
  WORKER_PORT: '0',
};

interface Case {
  readonly what: string;
  readonly server: WrongServer;
  /** With the server's port for PORT. */
  readonly url: string;
  readonly sentence: RegExp;
  /** API and worker wait until it is another. Default: they end. */
  readonly passes?: boolean;
}

const CASES: readonly Case[] = [
  {
    what: 'a database that there is not',
    server: 'sound',
    url: 'redis://127.0.0.1:PORT/99',
    sentence: /^Redis at redis:\/\/\S+ has no database 99; set REDIS_URL to one that it has, or raise "databases"/,
  },
  {
    what: 'a replica',
    server: 'replica',
    url: 'redis://127.0.0.1:PORT',
    sentence: /Redis is a replica, .*; set REDIS_URL to its master \(127\.0\.0\.1:\d+\), or make it one/,
    passes: true,
  },
  {
    what: 'a user without eval',
    server: 'users',
    url: `redis://noeval:${PASSWORD}@127.0.0.1:PORT`,
    sentence: /doesn't let the user noeval run eval; allow it with ACL SETUSER noeval \+eval\.?$/,
  },
  {
    what: 'a certificate for another name',
    server: 'tls',
    url: `rediss://:${PASSWORD}@127.0.0.1:PORT`,
    sentence: /has a certificate for another name; write the name that it is for into REDIS_URL\.?$/,
  },
  {
    what: 'a server that wants a certificate of its clients',
    server: 'tlsForClients',
    url: `rediss://:${PASSWORD}@localhost:PORT`,
    sentence: /wants a certificate of its clients, which Herald has none of; set tls-auth-clients no there/,
    passes: true,
  },
];

/** Of a process that waits: the sentence that its log has, in the place of the one with which others end. */
async function waitAndStop(app: 'api' | 'worker', env: Env) {
  const isWaiting = (line: string) => line.includes('"process.waiting"');
  const command = { name: app, command: process.execPath, args: [entryPoint(app)], env };
  const running = await startProcess({ ...command, readyWhen: isWaiting });
  const { code } = await running.stop();
  expect(code).toBe(0);
  const line = running.stdout.find(isWaiting) ?? '{}';
  const { sentence } = JSON.parse(line) as { sentence?: string };
  return { code: 1, stdout: running.stdout.join('\n'), stderr: sentence ?? '' };
}

describe('with', () => {
  let servers: WrongServers;
  beforeAll(async () => {
    servers = await startWrongServers(['sound', 'replica', 'users', 'tls', 'tlsForClients', 'full']);
  });
  afterAll(() => servers[Symbol.asyncDispose]());
  const envFor = ({ url, server }: Pick<Case, 'url' | 'server'>) => ({
    ...OURS,
    NODE_EXTRA_CA_CERTS: servers.caFile,
    REDIS_URL: url.replace('PORT', String(servers.portOf(server))),
  });

  const run = async (app: 'api' | 'worker', env: Env, passes = false) =>
    passes ? await waitAndStop(app, env) : await runApp(app, env);

  test.each(CASES)('$what: nothing starts, and each says in one sentence what to set', async (each) => {
    const env = envFor(each);
    // One by one: each has a second or two to find out.
    const doctor = await runBuiltCli(['doctor'], env);
    const ends = [
      await run('api', env, each.passes),
      await run('worker', env, each.passes),
      await runBuiltCli(['keys', 'create', '--executor'], env),
    ];
    for (const { code, stdout, stderr } of ends) {
      expect({ code, lines: stderr.split('\n') }).toEqual({ code: 1, lines: [stderr] });
      expect(stderr).toMatch(each.sentence);
      // The log may say before that a connection failed.
      expect(`${stdout}${stderr}`).not.toMatch(/redis\.call|hunter2|started/);
    }
    const found = doctor.stdout.split('\n').filter((line) => line.startsWith('error'));
    expect({ code: doctor.code, found: found.length }).toEqual({ code: 1, found: 1 });
    expect(found[0]?.replace(/^error +redis +/, '')).toMatch(each.sentence);
    expect(`${doctor.stdout}${doctor.stderr}`).not.toMatch(/It works|redis\.call|hunter2/);
    expect(await askRedis(servers.portOf('sound'), 'DBSIZE')).toContain(':0\r\n');
  });

  test('a Redis that is full: processes wait, and it can be looked at', async () => {
    const env = envFor({ server: 'full', url: 'redis://127.0.0.1:PORT' });
    const [queues, ...ends] = await Promise.all([
      runBuiltCli(['queues'], env),
      waitAndStop('api', env),
      waitAndStop('worker', env),
    ]);
    for (const { code, stderr } of ends) {
      expect({ code, lines: stderr.split('\n') }).toEqual({ code: 1, lines: [stderr] });
      expect(stderr).toMatch(/can't be used: Redis is full and refuses writes \(OOM\); raise maxmemory/);
    }
    expect(queues.code).toBe(0);
  });
});
