import { createApiKeyStore } from '@herald/store/api-keys/api-key-store';
import { runCli } from '../support/run-cli.ts';
import { startHerald } from '../support/start-herald.ts';

/** From the end of the revocation (issued through nobody's API) until every process must refuse. */
const EVERYWHERE_WITHIN_MS = 1_000;

test('a key that two API processes have just been using is refused by both within a second of its revocation', async () => {
  await using herald = await startHerald({ apis: 2, workers: 0 });
  const { key, record } = await createApiKeyStore({ redis: herald.redis, now: Date.now }).create({
    workspaceId: 'ws_revoked',
    scopes: ['webhooks', 'tasks'],
  });
  const statuses = () =>
    Promise.all(
      herald.apis.map(async (via) => (await herald.request('GET', '/api/public/webhooks', { key, via })).status),
    );
  // Whatever a process remembers of a key, it does now.
  for (let count = 0; count < 20; count++) expect(await statuses()).toEqual([200, 200]);
  const { code } = await runCli(['keys', 'revoke', record.id], herald.topology.env);
  expect(code).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, EVERYWHERE_WITHIN_MS));
  expect(await statuses()).toEqual([401, 401]);
});
