import { waitFor } from '@herald/test-kit';
import { sendRequest } from '../../support/http-request.ts';
import { DONE, START } from '../../support/reports.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

jest.setTimeout(60_000);

type Line = Readonly<Record<string, unknown>> & { readonly message: string };

function readLines(herald: Herald, level?: string): Line[] {
  return herald
    .logs()
    .split('\n')
    .filter((line) => line.includes('{"'))
    .map((line) => JSON.parse(line.slice(line.indexOf('{"'))) as Line)
    .filter((line) => level === undefined || line.level === level);
}

/** One done Task to a receiver that refuses three times; the report's request has this id. */
async function failOnce(herald: Herald, requestId: string) {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([500]);
  const { id: endpointId } = await workspace.registerReceiver({ url: receiver.url, events: ['task.done'] });
  const { id: taskId } = await workspace.createTask();
  await herald.executor.report(taskId, START);
  await sendRequest(herald.apis[0]?.origin ?? '', 'POST', `/api/internal/tasks/${taskId}/transitions`, {
    key: herald.executor.key,
    body: DONE,
    headers: { 'x-request-id': requestId },
  });
  await herald.settled();
  return { workspace, taskId, endpointId };
}

test('a send that failed is followed from its request to its last attempt by ids alone', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '10ms,10ms' } });
  const { workspace, taskId, endpointId } = await failOnce(herald, 'asked-by-the-executor');

  const accepted = readLines(herald).filter(
    ({ message, requestId }) => message === 'transition.accepted' && requestId === 'asked-by-the-executor',
  );
  expect(accepted).toMatchObject([{ process: 'api', taskId, event: 'task.done', deliveries: 1, canceled: 0 }]);
  const attempts = await waitFor(
    'three attempts in the log',
    () =>
      readLines(herald).filter(
        ({ message, transitionId }) => message === 'delivery.attempted' && transitionId === accepted[0]?.transitionId,
      ),
    { until: (lines) => lines.length === 3 },
  );
  expect(attempts.map(({ attempt, status, verdict, level }) => [attempt, status, verdict, level])).toEqual([
    [1, 500, 'retry', 'info'],
    [2, 500, 'retry', 'info'],
    [3, 500, 'failed', 'warn'],
  ]);
  expect(new Set(attempts.map(({ deliveryId }) => deliveryId)).size).toBe(1);
  for (const line of attempts) {
    expect(line).toMatchObject({
      process: 'worker',
      taskId,
      endpointId,
      workspaceId: workspace.id,
      requestId: 'asked-by-the-executor',
    });
  }
});

test('at level info a failed send still leads back to its request, and what arrives leaves no line', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '', LOG_LEVEL: 'info' } });
  // This Redis keeps nothing on disk: both processes say so when they start.
  for (const each of [...herald.apis, ...herald.workers]) await herald.waitForLog('persistence_off', each);
  const sound = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await sound.registerReceiver({ url: receiver.url });
  const { id } = await sound.createTask();
  await sound.closeTask(id);
  await receiver.next();
  await failOnce(herald, 'asked-at-level-info');
  await herald.waitForLog('delivery.attempted');
  const attempts = readLines(herald).filter(({ message }) => message === 'delivery.attempted');
  expect(attempts).toMatchObject([{ level: 'warn', requestId: 'asked-at-level-info', verdict: 'failed' }]);
});
