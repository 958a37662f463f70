import { waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { startHerald } from '../../support/start-herald.ts';
import { emitMany, expectNothingLeft } from './fleet.ts';

import.meta.jest.setTimeout(120_000);

const LIMIT = 6;
const ANSWER_MS = 50;
const DELIVERIES = 600;

/** A receiver that counts the requests that it has not answered yet, and the deliveries that it accepted. */
function createCounter() {
  const accepted = new Map<string, number>();
  const counts = { now: 0, most: 0 };
  return {
    counts,
    accepted,
    async respond({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
      counts.now++;
      counts.most = Math.max(counts.most, counts.now);
      await pause(ANSWER_MS);
      counts.now--;
      const id = headers['x-service-delivery'] ?? '';
      accepted.set(id, (accepted.get(id) ?? 0) + 1);
      return 200;
    },
  };
}

test.concurrent('over four workers a receiver never has more requests open than its limit, also when one of them is killed', async () => {
  await using herald = await startHerald({ workers: 4, env: { DESTINATION_CONCURRENCY: String(LIMIT) } });
  const workspace = await herald.createWorkspace();
  const { counts, accepted, respond } = createCounter();
  const receiver = await herald.startReceiver(respond);
  await workspace.registerReceiver({ url: receiver.url });
  const transitions = await emitMany(herald, workspace, DELIVERIES);
  await waitFor('the receiver to be at its limit', () => counts.most === LIMIT && accepted.size > 100);
  const [killed] = herald.workers;
  await killed?.kill();
  const survivors = accepted.size;
  await waitFor('all to be accepted', () => accepted.size, {
    until: (size) => size === DELIVERIES,
    deadlineMs: 60_000,
  });
  await expectNothingLeft(herald.redis);
  expect(survivors).toBeLessThan(DELIVERIES);
  expect(accepted.size).toBe(transitions.length);
  expect(counts.most).toBe(LIMIT);
  // Twice went only what the kill caught between its send and its record.
  expect([...accepted.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(LIMIT);
});

test.concurrent('what a killed worker had is in work elsewhere within 30 s, as everything is set by default', async () => {
  await using herald = await startHerald();
  const workspace = await herald.createWorkspace();
  const seen = new Map<string, number>();
  const receiver = await herald.startReceiver(({ headers }) => {
    const id = headers['x-service-delivery'] ?? '';
    seen.set(id, (seen.get(id) ?? 0) + 1);
    return seen.get(id) === 1 ? 'hang' : 200;
  });
  await workspace.registerReceiver({ url: receiver.url });
  await emitMany(herald, workspace, 5);
  await waitFor('all to be in work', () => seen.size === 5);
  const [first] = herald.workers;
  await herald.startWorker();
  await first?.kill();
  const killedAt = performance.now();
  await waitFor('all to be in work elsewhere', () => [...seen.values()], {
    until: (counts) => counts.every((count) => count === 2),
    deadlineMs: 40_000,
  });
  expect(performance.now() - killedAt).toBeLessThan(30_000);
  await expectNothingLeft(herald.redis);
});
