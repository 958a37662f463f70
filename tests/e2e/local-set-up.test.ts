import { freePort, startProcess, waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { runCli } from '../support/run-cli.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRET_FILES = ['secrets-key', 'ca-key.pem', 'ca.pem', 'api-key', 'executor-key', 'operator-password'];
const DEADLINE_MS = 60_000;

let dir: string;
let env: Record<string, string>;
async function prepare(): Promise<void> {
  dir = await mkdtemp(join(tmpdir(), 'herald-local-'));
  env = { HERALD_DIR: dir, ...(await choosePorts()) };
}

const choosePorts = async () => ({ PORT: String(await freePort()), WORKER_PORT: String(await freePort()) });

function run(script: 'start' | 'demo', readyWhen: (line: string) => boolean, more: Record<string, string> = {}) {
  return startProcess({
    name: script,
    command: process.execPath,
    args: ['--conditions=source', join(ROOT, `scripts/${script}.ts`)],
    env: { ...env, ...more },
    readyWhen,
    readyDeadlineMs: DEADLINE_MS,
  });
}

/** What it printed. It ends with the exit code 0. */
async function runDemo(): Promise<string> {
  await using demo = await run('demo', () => true);
  const { code } = await demo.exited;
  expect({ code, output: demo.output() }).toMatchObject({ code: 0 });
  return demo.output();
}

const runStart = (more?: Record<string, string>) => run('start', (line) => line.startsWith('Ctrl-C stops'), more);

/** At ports of the test's own choice, or at free ones: another test may take one of these before the service does. */
async function start(ports?: Record<string, string>) {
  if (ports) return await runStart(ports);
  try {
    return await runStart();
  } catch (error) {
    if (!/Port \d+ is taken/.test(String(error))) throw error;
    env = { ...env, ...(await choosePorts()) };
    return await runStart();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What the API answers to a key, or to the token of a link. */
async function read(path: string, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  return await (await fetch(`http://127.0.0.1:${env.PORT ?? ''}${path}`, { headers })).json();
}

/** Both of an API key's uses that matter here: it is known, and its receivers are there. */
async function listReceivers(key: string): Promise<unknown[]> {
  return ((await read('/api/public/webhooks', key)) as { webhooks: unknown[] }).webhooks;
}

describe('a running service', () => {
  let service: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    await prepare();
    service = await start();
  }, DEADLINE_MS);
  afterAll(async () => {
    await service.stop();
    await rm(dir, { recursive: true });
  });

  test('what it keeps is for its owner alone', async () => {
    const modes = await Promise.all(
      ['', ...SECRET_FILES].map(async (name) => (await stat(join(dir, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o700, ...SECRET_FILES.map(() => 0o600)]);
    // Beside it the CLI needs no variable, and finds nothing wrong with those of the service.
    const { code, stdout, stderr } = await runCli(['doctor'], {}, { localFolder: dir });
    expect({ code, note: stderr }).toEqual({
      code: 0,
      note: `Using the service of npm start, at http://127.0.0.1:${env.PORT ?? ''}.`,
    });
    expect(stdout).toContain('SECRETS_KEY decrypts every secret');
    expect((await stat(join(dir, 'running.json'))).mode & 0o777).toBe(0o600);
  });

  test('it says where the board is, and where the password for it, and prints a link to the console and a command to listen that work', async () => {
    const line =
      service
        .output()
        .split('\n')
        .find((each) => each.includes('/admin/queues')) ?? '';
    const [, url = '', user = '', file = ''] = /(http\S+) +\(user (\S+), password in (\S+)\)/.exec(line) ?? [];
    const password = (await readFile(file, 'utf8')).trim();
    expect(service.output()).not.toContain(password);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
    expect((await fetch(url)).status).toBe(401);
    expect(service.output()).toMatch(new RegExp(`/admin +\\(user ${user}, password in ${file}\\)`));
    const [, token = ''] = /\/console#token=(hrlp_\w+) /.exec(service.output()) ?? [];
    const [, options = ''] =
      /npx --no-install herald-receiver (listen --api \S+ --key \S+ --forward-to \S+)$/m.exec(service.output()) ?? [];
    await using listening = await startProcess({
      name: 'herald-receiver',
      command: process.execPath,
      args: [join(ROOT, 'packages/receiver/bin/herald-receiver.js'), ...options.split(' ')],
      readyWhen: (each) => each.startsWith('Listening at'),
    });
    await listening.stop();
    const access = { workspaceId: 'ws_local', kind: 'portal_link', readOnly: false };
    expect(await read('/api/public/access', token)).toMatchObject(access);
  });

  test(
    'the demo gets every delivery of it once, and leaves no receiver behind',
    async () => {
      const output = await runDemo();
      expect(output).toContain('7 deliveries, 7 verified, 0 duplicates.');
      const [, id = '', token = ''] = /\/console\/deliveries\/(dlv_\w+)#token=(hrlp_\w+)$/m.exec(output) ?? [];
      const shown = await read(`/api/public/deliveries/${id}`, token);
      expect(shown).toMatchObject({ id, event: 'task.requires_action', status: 'delivered' });
      await expect(listReceivers((await readFile(join(dir, 'api-key'), 'utf8')).trim())).resolves.toEqual([]);
    },
    DEADLINE_MS,
  );

  test('a second service from the same folder is refused with a sentence', async () => {
    const second = start(await choosePorts());
    await expect(second).rejects.toThrow(`Herald already runs from ${dir}, as process ${service.pid}`);
    expect(isAlive(service.pid)).toBe(true);
  });
});

describe('a folder of its own', () => {
  beforeEach(prepare);
  afterEach(() => rm(dir, { recursive: true }));

  test(
    'a second start keeps keys and receivers, and Ctrl-C ends it all with exit code 0',
    async () => {
      await using first = await start();
      expect(first.output()).toContain(`Keys and data stay in ${relative('', dir)}/ for the next start.`);
      const kept = await Promise.all(SECRET_FILES.map((name) => readFile(join(dir, name), 'utf8')));
      const key = kept[3]?.trim() ?? '';
      const registered = await fetch(`http://127.0.0.1:${env.PORT ?? ''}/api/public/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: 'https://hooks.example.com/herald' }),
      });
      expect(registered.status).toBe(201);
      first.kill('SIGINT');
      await expect(first.exited).resolves.toEqual({ code: 0, signal: null });

      await using second = await start();
      await expect(Promise.all(SECRET_FILES.map((name) => readFile(join(dir, name), 'utf8')))).resolves.toEqual(kept);
      await expect(listReceivers(key)).resolves.toHaveLength(1);
      await expect(second.stop()).resolves.toEqual({ code: 0, signal: null });
    },
    2 * DEADLINE_MS,
  );

  test(
    'without a running service the demo starts one of its own',
    async () => {
      expect(await runDemo()).toContain("a service of the demo's own");
    },
    DEADLINE_MS,
  );

  test(
    'the death of one process stops the others with a sentence and exit code 1, and leaves none behind',
    async () => {
      await using service = await start();
      const redisPort = (await readFile(join(dir, 'redis-port'), 'utf8')).trim();
      process.kill(await fetchRedisPid(Number(redisPort)), 'SIGKILL');
      await expect(service.exited).resolves.toEqual({ code: 1, signal: null });
      expect(service.output()).toContain('The redis process ended by itself (SIGKILL)');
      const answers = () =>
        fetch(`http://127.0.0.1:${env.PORT ?? ''}/healthz`).then(
          () => true,
          () => false,
        );
      await expect(waitFor('the API to be gone', async () => !(await answers()))).resolves.toBe(true);
    },
    DEADLINE_MS,
  );

  test('taken ports are named together, with the variables to set', async () => {
    await using one = createServer().listen(0, '127.0.0.1');
    await using other = createServer().listen(0, '127.0.0.1');
    const others = [one, other];
    await Promise.all(others.map((each) => once(each, 'listening')));
    const [PORT = '', WORKER_PORT = ''] = others.map((each) => String((each.address() as AddressInfo).port));
    await expect(start({ PORT, WORKER_PORT })).rejects.toThrow(
      new RegExp(`Port ${PORT} is taken .* Set PORT to a free one[^]*Port ${WORKER_PORT} is taken .* Set WORKER_PORT`),
    );
  });
});

/** The process id of the server on a port, as it says itself. */
async function fetchRedisPid(port: number): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.end('INFO server\r\nQUIT\r\n');
  return Number(/process_id:(\d+)/.exec(await text(socket))?.[1]);
}
