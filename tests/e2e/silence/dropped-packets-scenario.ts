import { execFileSync } from 'node:child_process';
import { waitFor } from '@herald/test-kit';
import { dropPackets } from '../../support/drop-packets.ts';
import { startHerald } from '../../support/start-herald.ts';
import type { TopologyKind } from '../../support/start-topology.ts';
import { webhooksAt } from '../../support/webhooks.ts';

/** What came of it, in seconds since the packets are dropped; printed as JSON. */
export type DroppedPackets = {
  readonly connections: number;
  readonly apiTold: number;
  readonly workerTold: number;
  readonly accepted: number;
  readonly delivered: number;
  readonly tested: number;
};

const DEADLINE_MS = 60_000;

// Started by its test, in a network namespace of its own.
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const [, , kind = 'single'] = process.argv;
await using herald = await startHerald({ topology: kind as TopologyKind });
const workspace = await herald.createWorkspace();
const receiver = await herald.startReceiver();
const { id } = await workspace.registerReceiver({ url: receiver.url });
const [api, worker] = [herald.apis[0], herald.workers[0]];
if (!api || !worker) throw new Error('both were started');
const [first, second] = [await workspace.createTask(), await workspace.createTask()];
await workspace.closeTask(first.id);
await receiver.waitForCount(1);
await workspace.sendTest(id);

const { target, servers } = herald.topology;
const ports = new Set(servers.map(({ clientPort }) => clientPort));
if (target.kind === 'sentinel') for (const { port } of target.sentinels) ports.add(port);
const connections = dropPackets([api.process.pid, worker.process.pid], ports);
const from = performance.now();
const secondsUntil = async (what: string, condition: () => Promise<boolean>) => {
  await waitFor(what, condition, DEADLINE_MS);
  return (performance.now() - from) / 1_000;
};
const statusOf = async ({ origin }: { origin: string }) => (await fetch(`${origin}/readyz`)).status;
const [apiTold, workerTold, accepted] = await Promise.all([
  secondsUntil('the API to say so', async () => (await statusOf(api)) === 503),
  secondsUntil('the worker to say so', async () => (await statusOf(worker)) === 503),
  secondsUntil('a transition to be accepted', async () => {
    const answer = await workspace.request('POST', `/tasks/${second.id}/close`, { body: { status: 'done' } });
    return answer.status === 200;
  }),
]);
const delivered = await secondsUntil('the second delivery', () =>
  Promise.resolve(webhooksAt(receiver).filter(({ event }) => event === 'task.done').length === 2),
);
const tested = await secondsUntil('a test event', async () => (await workspace.sendTest(id)).status === 200);
const seen: DroppedPackets = { connections, apiTold, workerTold, accepted, delivered, tested };
process.stdout.write(`${JSON.stringify(seen)}\n`);
