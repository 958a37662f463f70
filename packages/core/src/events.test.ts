import { EVENT_NAMES, EventName, isNotice, NOTICE_EVENTS } from './events.ts';

test('the event names are those of the spec’s section 6, in its order', () => {
  expect(EVENT_NAMES).toEqual(['task.check_in', 'task.requires_action', 'task.done', 'task.canceled', 'webhook.test']);
});

test.each(['task.failed', 'TASK.DONE', 'task.done ', '', '*', null])('%j is no event name', (name) => {
  expect(EventName.safeParse(name).success).toBe(false);
});

test('no receiver can subscribe to a notice', () => {
  expect(NOTICE_EVENTS.map((event) => EventName.safeParse(event).success)).not.toContain(true);
  expect(NOTICE_EVENTS.every(isNotice)).toBe(true);
  expect(EVENT_NAMES.some(isNotice)).toBe(false);
});
