import { createExecutorClient, createReporter, createTenantClient, type Transition } from '@herald/client';
import { waitFor } from '@herald/test-kit';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { installClient, readExamples, type Project } from './install-client.ts';
import { startFlappingFront } from './start-flapping-front.ts';

jest.setTimeout(600_000);

let herald: Herald;
let project: Project;
beforeAll(async () => {
  [herald, project] = await Promise.all([startHerald({ env: { RETRY_SCHEDULE: '' } }), installClient()]);
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

const originOfApi = () => herald.apis.find(({ process }) => !process.hasExited())?.origin ?? '';

test('the examples of the README do what they say, on the package as it is published', async () => {
  const workspace = await herald.createWorkspace();
  const failing = await herald.startReceiver(() => 500);
  await workspace.registerReceiver({ url: failing.url });
  for (let count = 0; count < 3; count++) await workspace.closeTask((await workspace.createTask()).id);
  await herald.settled();

  const env = {
    HERALD_URL: originOfApi(),
    HERALD_KEY: workspace.key,
    HERALD_EXECUTOR_KEY: herald.executor.key,
  };
  const printed: Record<string, string> = {};
  for (const [name, code] of await readExamples()) {
    const file = name.replace(/ts$/, 'mts');
    await project.write(file, code);
    printed[name] = await project.run(process.execPath, ['--disable-warning=ExperimentalWarning', file], env);
  }
  const match = (pattern: RegExp) => expect.stringMatching(pattern) as string;
  expect(printed).toEqual({
    'register.ts': match(/^registered wh_\w{26} with a secret of 50 characters$/),
    'task.ts': match(/^task_\w{26} is queued$/),
    'pages.ts': match(/^the first page has 1, and there are more\nsent 3 failed deliveries again$/),
    'problems.ts': match(/^wrong is url: url must start with https:\/\/.* \(422\)\nask about req_[\w-]+$/),
    'idempotency.ts': 'one Task',
    'deadline.ts': '2 receivers\ngiven up: the user has left the page',
    'portal.ts': 'the customer sees 2 receivers\nand may not remove one: insufficient_scope',
    // Those of task.ts and idempotency.ts.
    'executor.ts': match(/^task_\w{26} is done\ntask_\w{26} is done$/),
    'reporter.ts': 'invalid_transition\nreported 102',
    'stop.ts': match(/^not reported: .+\nstopped with 0 unreported$/),
    'commonjs.cjs': match(/^task\.check_in task\.requires_action task\.done/),
  });
});

describe('a reporter before an API that is killed, busy and cut off', () => {
  const TASKS = sized(10, 1_000);
  const CHECKPOINTS = sized(20, 98);
  const REPORTS = TASKS * (CHECKPOINTS + 2);

  /** Every Task's facts in their order, and those of all Tasks mixed. */
  function* reportsOf(taskIds: readonly string[]): Generator<Transition> {
    for (const taskId of taskIds) yield { taskId, type: 'start' };
    for (let count = 1; count <= CHECKPOINTS; count++) {
      const outcome = { summary: `step ${count}` };
      for (const taskId of taskIds) {
        yield { taskId, type: 'checkpoint', checkpointId: `c${count}`, canonical: true, material: true, outcome };
      }
    }
    for (const taskId of taskIds) yield { taskId, type: 'done' };
  }

  test('loses and doubles no report, and keeps those of each Task in order', async () => {
    await using front = await startFlappingFront(originOfApi);
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    await workspace.registerReceiver({ url: receiver.url });
    // All that it does goes through the front, as well.
    const tenant = createTenantClient({ baseUrl: front.origin, key: workspace.key });
    const taskIds = await Promise.all(Array.from({ length: TASKS }, async () => (await tenant.createTask()).id));

    const executor = createExecutorClient({ baseUrl: front.origin, key: herald.executor.key });
    const reporter = createReporter(executor, { maxItems: sized(40, 500), maxHeld: 5_000 });
    const outcomes: ReturnType<typeof reporter.report>[] = [];
    const KILLS = sized(2, 20);
    const killing = (async () => {
      for (let kills = 1; kills <= KILLS; kills++) {
        await waitFor('more reports', () => outcomes.length >= (kills * REPORTS) / (KILLS + 1), 300_000);
        await herald.apis.find(({ process }) => !process.hasExited())?.kill();
        await herald.startApi();
      }
    })();
    const startedAt = performance.now();
    for (const transition of reportsOf(taskIds)) {
      await reporter.ready();
      const outcome = reporter.report(transition);
      outcome.catch(() => undefined); // all are looked at below
      outcomes.push(outcome);
    }
    await reporter.close();
    const seconds = (performance.now() - startedAt) / 1_000;
    const settled = await Promise.allSettled(outcomes);
    await killing;
    process.stderr.write(
      `reporter: ${REPORTS} reports in ${seconds.toFixed(1)} s, ${herald.apis.length - 1} kills, ${JSON.stringify(front.met)}\n`,
    );

    // A report out of its order would be refused: a checkpoint before its start, or after its done.
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([]);
    const ids = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.transitionId] : []));
    expect(new Set(ids).size).toBe(REPORTS);
    expect(Math.min(...Object.values(front.met))).toBeGreaterThan(0);

    // Every fact but the starts has one delivery, and no fact has two.
    await herald.settled(sized(60_000, 400_000));
    const delivered = receiver.requests.map(({ rawBody }) => JSON.parse(rawBody.toString()) as Delivered);
    expect(new Set(delivered.map(({ id }) => id)).size).toBe(REPORTS - TASKS);
    const sequences = Map.groupBy(delivered, ({ task }) => task.id);
    const highest = [...sequences.values()].map((events) => Math.max(...events.map(({ sequence }) => sequence)));
    expect(highest).toEqual(Array(TASKS).fill(CHECKPOINTS + 1));
  });
});

type Delivered = { id: string; sequence: number; task: { id: string } };
