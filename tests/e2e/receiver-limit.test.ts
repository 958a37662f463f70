import { problemOf } from '../support/problems.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());

test('of 50 registrations that race over two API processes exactly 10 succeed', async () => {
  const workspace = await herald.createWorkspace();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => {
      const via = herald.apis[index % 2];
      const body = { url: `https://hooks.example.com/${index}` };
      return herald.request('POST', '/api/public/webhooks', { key: workspace.key, body, ...(via && { via }) });
    }),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(40);
  expect(new Set(refused.map((answer) => problemOf(answer).code))).toEqual(new Set(['receiver_limit_reached']));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([409]));
  const { webhooks } = await workspace.listReceivers();
  const created = answers.filter(({ status }) => status === 201).map(({ body }) => (body as { url: string }).url);
  expect(webhooks.map(({ url }) => url).sort()).toEqual(created.sort());
});

test('a removed receiver makes room for one more, and another workspace is not concerned', async () => {
  const [full, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const register = (workspace: typeof full) =>
    workspace.request('POST', '/api/public/webhooks', { body: { url: 'https://hooks.example.com/' } });
  for (let count = 0; count < 10; count++) await register(full);
  expect((await register(full)).status).toBe(409);
  expect((await register(other)).status).toBe(201);
  const [first] = (await full.listReceivers()).webhooks;
  await expect(full.request('DELETE', `/api/public/webhooks/${first?.id ?? ''}`)).resolves.toMatchObject({
    status: 200,
    body: { deleted: true },
  });
  expect((await register(full)).status).toBe(201);
  expect((await register(full)).status).toBe(409);
});
