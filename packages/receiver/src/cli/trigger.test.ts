import { newSampleTaskId, newSampleTransitionId, renderSampleBody, type TaskEventName } from '@herald/core';
import { EVENT_NAMES, isSample, parseEvent } from '../event.ts';
import { renderSample } from './trigger.ts';

const NOW = Date.UTC(2030, 0, 2);

test.each(EVENT_NAMES.filter((name): name is TaskEventName => name !== 'webhook.test'))(
  'a local sample of %s is what Herald sends as a sample, but for its ids',
  (name) => {
    const local = renderSample(name, NOW);
    const { id, task } = JSON.parse(local) as { id: string; task: { id: string } };
    const [transitionId, taskId] = [newSampleTransitionId(), newSampleTaskId(NOW)];
    const own = renderSampleBody(name, { transitionId, taskId, createdAt: NOW });
    expect(local.replaceAll(task.id, taskId).replaceAll(id, transitionId)).toBe(own);
    expect(isSample(parseEvent(local))).toBe(true);
  },
);

test('a local test event is of no Task, and no two have one id', () => {
  const [one, other] = [parseEvent(renderSample('webhook.test', NOW)), parseEvent(renderSample('webhook.test', NOW))];
  expect(one).toMatchObject({ event: 'webhook.test', created_at: '2030-01-02T00:00:00.000Z' });
  expect([isSample(one), one.id === other.id]).toEqual([false, false]);
});
