import { TaskEventName } from '../events.ts';
import { ID_PATTERNS, newSampleTaskId, newSampleTransitionId, newTaskId } from '../ids/ids.ts';
import { AnyTaskIdText, TaskIdText, TransitionIdText } from '../ids/id-texts.ts';
import { renderSampleBody } from './sample-body.ts';
import { WEBHOOK_PAYLOADS } from './webhook-payloads.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

test.each(TaskEventName.options)('a sample of %s has the documented body of the event', (event) => {
  const facts = { transitionId: newSampleTransitionId(), taskId: newSampleTaskId(NOW), createdAt: NOW };
  const body: unknown = JSON.parse(renderSampleBody(event, facts));
  expect(WEBHOOK_PAYLOADS[event].parse(body)).toEqual(body);
  expect(body).toMatchObject({
    id: facts.transitionId,
    event,
    created_at: '2030-01-31T12:00:00.000Z',
    task: { id: facts.taskId },
  });
});

test('the ids of a sample say so, and each sample has its own', () => {
  const taskId = newSampleTaskId(NOW);
  expect(taskId).toMatch(/^task_sample/);
  expect(AnyTaskIdText.safeParse(taskId).success).toBe(true);
  expect(newSampleTaskId(NOW)).not.toBe(taskId);
  const transitionId = newSampleTransitionId();
  expect(transitionId).toMatch(/^trn_sample/);
  expect(TransitionIdText.safeParse(transitionId).success).toBe(true);
  expect(newSampleTransitionId()).not.toBe(transitionId);
});

test('no Task can have the id of a sample', () => {
  const taskId = newSampleTaskId(NOW);
  expect(ID_PATTERNS.task.test(taskId)).toBe(false);
  expect(TaskIdText.safeParse(taskId).success).toBe(false);
  expect(newTaskId(NOW)).not.toMatch(/^task_sample/);
});
