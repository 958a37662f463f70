import { EVENT_NAMES, EventName } from './events.ts';

test('the event names are those of the spec’s section 6, in its order', () => {
  expect(EVENT_NAMES).toEqual(['task.check_in', 'task.requires_action', 'task.done', 'task.canceled', 'webhook.test']);
});

test.each(['task.failed', 'TASK.DONE', 'task.done ', '', '*', null])('%j is no event name', (name) => {
  expect(EventName.safeParse(name).success).toBe(false);
});
