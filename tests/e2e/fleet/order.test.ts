import { waitFor, type ReceivedRequest } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';
import { checkpoint, START } from '../../support/reports.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WebhookBody } from '../../support/webhooks.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { createHold, expectNothingLeft, expectNoInternalErrors, type Hold } from './fleet.ts';

jest.setTimeout(sized(90_000, 400_000));

const SIZE = sized({ tasks: 15, events: 8, kills: 2 }, { tasks: 200, events: 20, kills: 8 });
/** What a killed worker had is in work elsewhere within 25 s. */
const DEADLINE_MS = sized(60_000, 300_000);
/** So many tries that a receiver which fails one in five lets none fail in the end. */
const RETRY_SCHEDULE = Array<string>(20).fill('50ms').join();

const readBody = ({ rawBody }: ReceivedRequest) => JSON.parse(rawBody.toString()) as WebhookBody;

/** Reports the next event of each Task until all have all. */
async function emitAll(herald: Herald, workspace: WorkspaceClient): Promise<void> {
  const tasks = await Promise.all(Array.from({ length: SIZE.tasks }, async () => (await workspace.createTask()).id));
  await Promise.all(tasks.map((id) => herald.executor.report(id, START)));
  for (let event = 0; event < SIZE.events; event++) {
    const reports = tasks.map((taskId) => ({ taskId, ...checkpoint(`c${event}`) }));
    for (const result of await herald.executor.reportBatch(reports)) expect(result).toHaveProperty('transitionId');
  }
}

/** Kills a worker each time that so many more deliveries were accepted, while others are on their way. */
async function killWorkers(herald: Herald, accepted: ReadonlySet<string>, hold: Hold) {
  const share = (SIZE.tasks * SIZE.events) / (SIZE.kills + 1);
  for (let kill = 1; kill <= SIZE.kills; kill++) {
    await waitForAccepted(accepted, Math.floor(kill * share));
    hold.begin();
    await waitFor('a send to be on its way', () => hold.held() > 0, DEADLINE_MS);
    await herald.workers.find(({ process }) => !process.hasExited())?.kill();
    expect(await herald.redis.zcard(shardKeys().queue.leases)).toBeGreaterThanOrEqual(1);
    // The others would send all that is left meanwhile, and nothing would be on its way at the next kill.
    await herald.startWorker();
    hold.end();
  }
}

const waitForAccepted = (accepted: ReadonlySet<string>, count: number) =>
  waitFor(`${count} deliveries to be accepted`, () => accepted.size, {
    until: (size) => size >= count,
    deadlineMs: DEADLINE_MS,
  });

/** The sequences of each Task, in the order in which they were first sent. */
function readFirstSends(requests: readonly ReceivedRequest[]): Map<string, number[]> {
  const firsts = new Map<string, number[]>();
  const seen = new Set<string>();
  for (const request of requests) {
    const id = request.headers['x-service-delivery'] ?? '';
    if (seen.has(id)) continue;
    seen.add(id);
    const { task, sequence } = readBody(request);
    firsts.set(task.id, [...(firsts.get(task.id) ?? []), sequence]);
  }
  return firsts;
}

test('four workers, of which one after the other is killed, send the events of each Task in order to a receiver that fails one in five, and lose none', async () => {
  await using herald = await startHerald({ workers: 4, env: { RETRY_SCHEDULE, DELIVERY_TIMEOUT: '5s' } });
  const workspace = await herald.createWorkspace();
  const accepted = new Set<string>();
  const hold = createHold();
  const receiver = await herald.startReceiver(async ({ headers }, index) => {
    await hold.pass();
    if (index % 5 === 4) return 500;
    accepted.add(headers['x-service-delivery'] ?? '');
    return { status: 200, delayMs: 30 };
  });
  await workspace.registerReceiver({ url: receiver.url, ordering: 'task' });
  await Promise.all([emitAll(herald, workspace), killWorkers(herald, accepted, hold)]);
  await waitForAccepted(accepted, SIZE.tasks * SIZE.events);
  await expectNothingLeft(herald.redis);
  const firsts = readFirstSends(receiver.requests);
  const inOrder = Array.from({ length: SIZE.events }, (_, index) => index + 1);
  expect(firsts.size).toBe(SIZE.tasks);
  for (const sequences of firsts.values()) expect(sequences).toEqual(inOrder);
  expect(receiver.requests.filter(({ headers }) => 'x-service-ordering' in headers)).toEqual([]);
  expectNoInternalErrors(herald);
});
