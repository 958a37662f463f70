import { waitFor } from '@herald/test-kit';
import { createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald } from '../../support/start-herald.ts';

test('while Redis is away the board says so, and it comes back by itself', async () => {
  await using herald = await startHerald({ workers: 0, env: OPERATOR_ENV, redis: { appendonly: true } });
  const operator = createOperatorClient(herald);
  expect((await operator.request('GET', '/api/queues')).status).toBe(200);
  await herald.server.kill();
  const { status, text } = await operator.request('GET', '/api/queues');
  expect(status).toBe(503);
  expect(text).toContain('the store is away for a moment; try again');
  await herald.waitForLog('board.failed');
  expect(herald.logs()).not.toContain('request.failed');
  await herald.server.restart();
  const read = async () => (await operator.request('GET', '/api/queues')).status;
  await expect(waitFor('the board to be back', read, { until: (now) => now === 200 })).resolves.toBe(200);
});
