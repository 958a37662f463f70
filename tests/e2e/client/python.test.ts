import { findExecutable, startProcess, waitFor, type Receiver } from '@herald/test-kit';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodyOf } from '../../support/http-request.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startFlappingFront } from './start-flapping-front.ts';

jest.setTimeout(900_000);

const DOCUMENT = new URL('../../../docs/other-languages.md', import.meta.url);
const PLATFORM = new URL('../../fixtures/platform.py', import.meta.url);
const python = findExecutable('python3') ?? '';

const CUSTOMERS = sized(5, 1_000);
const TASKS = 3;
const CHECKPOINTS = sized(6, 8);
const FACTS = CUSTOMERS * TASKS * (CHECKPOINTS + 2);
const KILLS = sized(2, 10);

let herald: Herald;
let folder: string;
beforeAll(async () => {
  if (python === '') return;
  herald = await startHerald({ env: { RETRY_SCHEDULE: '', RATE_LIMIT: '0' } });
  folder = await mkdtemp(join(tmpdir(), 'herald-python-'));
  const [, ...parts] = (await readFile(DOCUMENT, 'utf8')).split('<!-- example: ');
  for (const part of parts) {
    const [, name, code] = /^(\w+\.py) -->\s+```python\n(.*?)```/s.exec(part) ?? [];
    if (name !== undefined && code !== undefined) await writeFile(join(folder, name), code);
  }
  await copyFile(PLATFORM, join(folder, 'platform_of_ours.py'));
});
afterAll(async () => {
  if (python === '') return;
  await herald[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function run(args: readonly string[], env: Record<string, string>): Promise<string> {
  const home = process.env.HOME ?? folder;
  await using ran = await startProcess({
    name: 'python',
    command: python,
    args,
    cwd: folder,
    env: { HOME: home, ...env },
  });
  const { code } = await ran.exited;
  if (code !== 0) throw new Error(`Python ended with ${String(code)}\n${ran.tail()}`);
  return ran.stdout.join('\n');
}

const originOfApi = () => herald.apis.find(({ process }) => !process.hasExited())?.origin ?? '';

interface Customer {
  workspace: string;
  key: string;
  link: { token?: string };
  tasks: string[];
}

if (python === '') {
  test.todo('the reporter and the platform in Python run, which is not done: python3 is not on the PATH');
} else {
  test('the reporter of the document reports a Task as the example says', async () => {
    const workspace = await herald.createWorkspace();
    const { id } = await workspace.createTask();
    const env = { HERALD_URL: originOfApi(), HERALD_EXECUTOR_KEY: herald.executor.key, TASK: id };
    expect(await run(['report.py'], env)).toBe('reported');
    expect(await workspace.readTask(id)).toMatchObject({ status: 'done', result: { answer: 42 } });
    expect(await run(['report.py'], { ...env, TASK: 'task_01kes8t4a0q3m1y5b9z7x2c6vd' })).toContain('there is no task');
  });

  test('a platform in Python signs customers up, reports through kills of the API, and lets one leave: nothing is lost or doubled', async () => {
    await using front = await startFlappingFront(originOfApi);
    const receiver = await herald.startReceiver();
    const env = {
      HERALD_URL: front.origin,
      HERALD_PLATFORM_KEY: await herald.createKey(undefined, ['platform']),
      HERALD_EXECUTOR_KEY: herald.executor.key,
      RECEIVER: receiver.url,
      ...{ CUSTOMERS: String(CUSTOMERS), TASKS: String(TASKS), CHECKPOINTS: String(CHECKPOINTS) },
    };
    const startedAt = performance.now();
    const state = { isOver: false };
    const running = run(['platform_of_ours.py'], env).finally(() => {
      state.isOver = true;
    });
    const [printed] = await Promise.all([running, killApis(receiver, state)]);
    const { facts, refused, customers } = JSON.parse(printed.split('\n').at(-1) ?? '') as {
      facts: number;
      refused: object[];
      customers: Customer[];
    };
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    process.stderr.write(
      `python: ${CUSTOMERS} customers, ${FACTS} facts in ${seconds} s, ${KILLS} kills, ${JSON.stringify(front.met)}\n`,
    );
    expect(refused).toEqual([]);
    expect(facts).toBe(FACTS);

    // Every fact but the starts has one delivery, and no fact has two.
    await herald.settled(sized(60_000, 600_000));
    const bodies = receiver.requests.map(
      ({ rawBody }) => JSON.parse(rawBody.toString()) as { id: string; sequence: number; task: { id: string } },
    );
    const events = FACTS - CUSTOMERS * TASKS;
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(events);
    expect(new Set(bodies.map(({ task, sequence }) => `${task.id} ${sequence}`)).size).toBe(events);
    const repeats = receiver.requests.length - events;
    // A worker that nobody kills sends nothing twice.
    expect(repeats).toBe(0);

    const [leaver, ...others] = customers;
    const kept = others.at(-1);
    if (!leaver || !kept) throw new Error('there are customers');
    const shown = customers.filter(({ link }) => link.token !== undefined);
    const statusOf = async (key: string | undefined) =>
      (await herald.request('GET', '/api/public/access', { ...(key !== undefined && { key }) })).status;
    expect(await statusOf(shown[0]?.link.token)).toBe(200);
    const answers = JSON.parse(await run(['platform_of_ours.py', leaver.workspace], env)) as { erased: boolean }[];
    expect(answers.at(-1)).toMatchObject({ erased: true });
    expect([await statusOf(leaver.key), await statusOf(kept.key)]).toEqual([401, 200]);
    for (const id of leaver.tasks)
      expect(await herald.executor.readTask(id)).toMatchObject({ status: 'done', input: null, result: null });
    const list = bodyOf(await herald.request('GET', '/tasks', { key: kept.key }), 200) as { tasks: { id: string }[] };
    expect(list.tasks.map(({ id }) => id).sort()).toEqual([...kept.tasks].sort());
    for (const id of kept.tasks)
      expect(await herald.executor.readTask(id)).toMatchObject({ result: `canary of ${id}` });
  });
}

/** Kills an API each time that so many more events have arrived, and starts another. */
async function killApis({ requests }: Receiver, state: { readonly isOver: boolean }): Promise<void> {
  for (let kills = 1; kills <= KILLS; kills++) {
    const due = (kills * (FACTS - CUSTOMERS * TASKS)) / (KILLS + 2);
    await waitFor('more events', () => requests.length >= due || state.isOver, 600_000);
    if (state.isOver) return;
    await herald.apis.find(({ process }) => !process.hasExited())?.kill();
    await herald.startApi();
  }
}
