import { deliveryIdOf } from '@herald/core';
import { createKeyspace } from '@herald/store/keys/keys';
import { waitFor } from '@herald/test-kit';
import { problemOf } from '../../support/problems.ts';
import { START } from '../../support/reports.ts';
import { startHerald } from '../../support/start-herald.ts';
import { startLoad } from '../../support/start-load.ts';
import { webhooksAt } from '../../support/webhooks.ts';

const SHARDS = 3;
const LANES = 6;
const MANY = 100;
/** A master is taken for dead after 2 s, and its successor is chosen in as many again; on a busy machine in more. */
const FAILOVER_MS = 60_000;

test.concurrent.each(['sentinel', 'cluster'] as const)(
  'on the topology %s, a master killed under load loses nothing that was answered, and all goes on without help',
  async (topology) => {
    await using herald = await startHerald({
      topology,
      apis: 2,
      workers: 2,
      env: { SHARDS: String(SHARDS), REDIS_MIN_REPLICAS: '1', RETRY_SCHEDULE: '10ms,1s,1s,1s' },
    });
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const tasks = await Promise.all(Array.from({ length: LANES }, () => workspace.createTask()));
    for (const task of tasks) await herald.executor.report(task.id, START);
    const load = startLoad(
      herald,
      tasks.map((task) => task.id),
    );
    await waitFor('the load to run', () => load.accepted.length >= MANY, FAILOVER_MS);

    const { keyVersions } = createKeyspace(SHARDS).of(workspace.id);
    const killed = await herald.topology.findMasterOf(keyVersions);
    await killed.kill();
    await waitFor('every lane to be refused', () => load.refused.length >= LANES, FAILOVER_MS);
    await waitFor('another master', () => herald.topology.findMasterOf(keyVersions), {
      until: ({ port }) => port !== killed.port,
      deadlineMs: FAILOVER_MS,
    });
    // As a supervisor does. It comes back as a replica, and with it what REDIS_MIN_REPLICAS asks for.
    await killed.restart();
    const before = load.accepted.length;
    await waitFor('the load to go on', () => load.accepted.length >= before + MANY, FAILOVER_MS);
    await load.stop();
    await herald.settled(90_000);

    // What the log says of an internal error says more than the answer.
    expect(linesWith(herald.logs(), 'request.failed')).toEqual([]);
    for (const answer of load.refused) {
      expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    const webhooks = webhooksAt(receiver);
    const deliveryIds = new Set(webhooks.map(({ deliveryId }) => deliveryId));
    expect(load.accepted.filter((transitionId) => !deliveryIds.has(deliveryIdOf(transitionId, id)))).toEqual([]);
    // What was sent twice around the failover has one id, and what nobody was told of is the exception.
    expect(new Set(webhooks.map(({ body }) => body.id)).size).toBe(deliveryIds.size);
    // A lane's last report may stand although it was refused.
    expect(deliveryIds.size - load.accepted.length).toBeLessThanOrEqual(LANES);
  },
  240_000,
);

function linesWith(log: string, text: string): string[] {
  return log.split('\n').filter((line) => line.includes(text));
}
