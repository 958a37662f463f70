import { findExecutable, waitFor } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { actionRequired, checkpoint, DONE, START } from '../../support/reports.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { readWebhook } from '../../support/webhooks.ts';
import { forgeries, replayOf } from './forgeries.ts';
import { compile, installKit, type CustomerFolder } from './install-kit.ts';
import { findNode20 } from './node-20.ts';
import { startExample, type Example, type RunningExample } from './start-example.ts';

jest.setTimeout(120_000);

const python = findExecutable('python3');
/** What customers run it on: the oldest Node that it is for, where the machine has one. */
const node = findNode20() ?? process.execPath;
const serveFetch = join(import.meta.dirname, 'serve-fetch.js');
const serveAzure = join(import.meta.dirname, 'serve-azure.js');

async function compileNest(folder: string): Promise<void> {
  const complaints = await compile(folder, ['--experimentalDecorators', '--module', 'commonjs'], 'nest.ts');
  if (complaints !== '') throw new Error(complaints);
}

const EXAMPLES: Example[] = [
  { name: 'express.mjs', command: node, args: ['express.mjs'] },
  { name: 'fastify.mjs', command: node, args: ['fastify.mjs'] },
  ...['fetch.mjs', 'hono.mjs', 'worker.mjs', 'route.mjs', 'lambda.mjs'].map((name) => ({
    name,
    command: node,
    args: [serveFetch, name],
  })),
  { name: 'koa.mjs', command: node, args: ['koa.mjs'] },
  { name: 'azure.mjs', command: node, args: [serveAzure, 'azure.mjs'] },
  { name: 'nest.ts', command: node, args: ['nest.js'], prepare: compileNest },
  ...(python === undefined ? [] : [{ name: 'receiver.py', command: python, args: ['receiver.py'] }]),
];

/** The kit for Python, on two processes. */
const PYTHON_KIT = new URL('../../../packages/receiver-python/', import.meta.url);
const isOnGunicorn =
  python !== undefined && spawnSync(python, ['-c', 'import django, gunicorn'], { stdio: 'ignore' }).status === 0;
if (isOnGunicorn) {
  const program = `
import os, sys
sys.path[:0] = [os.getcwd(), sys.argv.pop()]
sys.argv += ['--workers', '2', '--threads', '4', '--bind', '127.0.0.1:' + os.environ['PORT']]
from gunicorn.app.wsgiapp import run
run()
`;
  EXAMPLES.push({
    name: 'django_app.py',
    readme: new URL('README.md', PYTHON_KIT),
    command: python,
    args: ['-c', program, 'django_app:application', fileURLToPath(PYTHON_KIT)],
  });
}

let herald: Herald;
let folder: CustomerFolder;
beforeAll(async () => {
  [herald, folder] = [await startHerald({ env: { RETRY_SCHEDULE: '10ms' } }), await installKit()];
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe.each(EXAMPLES)('the receiver $name of the README', (example) => {
  let running: RunningExample;
  beforeAll(async () => {
    running = await startExample(herald, folder.path, example);
  });
  afterAll(() => running[Symbol.asyncDispose]());

  /** A delivery that it has processed. */
  async function deliver(): Promise<{ id: string; request: RunningExample['requests'][number] }> {
    const id = (await running.deliveries.emit()).to(running.receiver);
    await running.deliveries.waitForStatus(id, 'delivered');
    const request = running.requests.find(({ headers }) => headers['x-service-delivery'] === id);
    if (!request) throw new Error(`${id} was not received`);
    return { id, request };
  }

  test('processes every event of a Task’s life once, and a test event', async () => {
    const { id: taskId } = await running.workspace.createTask();
    await herald.executor.report(taskId, START, checkpoint('c1'), actionRequired(1), DONE);
    const tested = await running.workspace.sendTest(running.receiver.id);
    expect(tested.body).toMatchObject({ delivered: true, receiverStatus: 200 });
    await waitFor('four deliveries', () => running.requests.length >= 4);
    await herald.settled();

    const received = running.requests.map(readWebhook);
    expect(received.map(({ event }) => event).sort()).toEqual([
      'task.check_in',
      'task.done',
      'task.requires_action',
      'webhook.test',
    ]);
    await waitFor('its output', () => received.every(({ deliveryId }) => running.processed(deliveryId).length > 0));
    expect(received.map(({ deliveryId }) => running.processed(deliveryId))).toEqual(
      received.map(({ event }) => [event]),
    );
  });

  test('answers a redelivery 2xx and does not process it again', async () => {
    const { id } = await deliver();
    await running.deliveries.redeliver(id);
    const { attempts } = await running.deliveries.waitForAttempts(id, 2);
    expect(attempts).toMatchObject([{ status: 200 }, { status: 200 }]);
    await deliver(); // what it prints comes in order
    expect(running.processed(id)).toEqual(['task.done']);
  });

  test('refuses whatever is forged, missing, cut short, or too old', async () => {
    const { id, request } = await deliver();
    expect(await running.send(request)).toBe(200); // as it is, it is known
    const forged = [...forgeries(request), ['a replay', replayOf(request, running.secrets)] as const];
    const answers: [string, number][] = [];
    for (const [what, each] of forged) answers.push([what, await running.send(each)]);
    expect(answers).toEqual(forged.map(([what]) => [what, 401]));
    await deliver();
    expect([running.processed(id), running.processed('dlv_x')]).toEqual([['task.done'], []]);
  });

  test('refuses a body of two megabytes', async () => {
    const { request } = await deliver();
    const send = running.send({ headers: request.headers, rawBody: Buffer.alloc(2_000_000, ' ') });
    // A server that hangs up in the middle of it has refused it as well.
    const answer = await send.then(String, String);
    expect(answer).toMatch(/^413$|fetch failed/);
    await expect(deliver()).resolves.toBeDefined();
  });
});

if (python === undefined) {
  test.todo('the receiver receiver.py of the README, which is not run: python3 is not on the PATH');
}
if (!isOnGunicorn) {
  test.todo('the receiver django_app.py of the kit for Python, which is not run: Django or gunicorn is not installed');
}
