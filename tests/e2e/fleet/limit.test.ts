import { waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { sized } from '../../support/sized.ts';
import { startHerald } from '../../support/start-herald.ts';
import { createHold, emitMany, expectNothingLeft } from './fleet.ts';

jest.setTimeout(120_000);

const LIMIT = 6;
const ANSWER_MS = 50;
const DELIVERIES = sized(200, 600);

/** A receiver that counts the requests that it has not answered yet, and the deliveries that it accepted. */
function createCounter() {
  const accepted = new Map<string, number>();
  const counts = { now: 0, most: 0 };
  const hold = createHold();
  return {
    counts,
    hold,
    accepted,
    async respond({ headers }: { readonly headers: Readonly<Record<string, string>> }, index: number) {
      if (index === DELIVERIES / 4) hold.begin();
      counts.now++;
      counts.most = Math.max(counts.most, counts.now);
      await hold.pass();
      await pause(ANSWER_MS);
      counts.now--;
      const id = headers['x-service-delivery'] ?? '';
      accepted.set(id, (accepted.get(id) ?? 0) + 1);
      return 200;
    },
  };
}

test('over four workers a receiver never has more requests open than its limit, also when one of them is killed', async () => {
  await using herald = await startHerald({ workers: 4, env: { DESTINATION_CONCURRENCY: String(LIMIT) } });
  const workspace = await herald.createWorkspace();
  const { counts, hold, accepted, respond } = createCounter();
  const receiver = await herald.startReceiver(respond);
  await workspace.registerReceiver({ url: receiver.url });
  const transitions = await emitMany(herald, workspace, DELIVERIES);
  await waitFor('the receiver to be at its limit', () => hold.held() === LIMIT);
  const [killed] = herald.workers;
  await killed?.kill();
  hold.end();
  await waitFor('all to be accepted', () => accepted.size, {
    until: (size) => size === DELIVERIES,
    deadlineMs: 60_000,
  });
  await expectNothingLeft(herald.redis);
  expect(accepted.size).toBe(transitions.length);
  expect(counts.most).toBe(LIMIT);
  // Twice went only what the kill caught between its send and its record.
  expect([...accepted.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(LIMIT);
});
