import { startHerald } from '../../support/start-herald.ts';

test('a caller that hangs up while Redis hangs, and asks again with the same key, gets what it asked for, and nothing else was made', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const request = {
    key: workspace.key,
    headers: { 'idempotency-key': 'the-one-and-only' },
    body: { callback: { url: receiver.url } },
  };
  await workspace.createTask(); // so that every script is known
  const before = await countTasks(herald);

  process.kill(herald.server.pid, 'SIGSTOP');
  const hungUp = herald.request('POST', '/tasks', { ...request, deadlineMs: 500 });
  await expect(hungUp).rejects.toThrow(/timeout/);
  process.kill(herald.server.pid, 'SIGCONT');
  await herald.waitForLog('"path":"/tasks"'); // it was answered, though nobody listens

  const again = await herald.request('POST', '/tasks', request);
  expect(again).toMatchObject({ status: 201, body: { callback: { events: expect.any(Array) as unknown } } });
  expect(await countTasks(herald)).toBe(before + 1);
}, 30_000);

async function countTasks(herald: Awaited<ReturnType<typeof startHerald>>): Promise<number> {
  const { body } = await herald.request('GET', '/api/internal/tasks?status=queued', { key: herald.executor.key });
  return (body as { tasks: unknown[] }).tasks.length;
}
