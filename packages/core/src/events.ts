import { z } from 'zod';

/** Every event name, in the order of the spec's section 6. */
export const EVENT_NAMES = [
  'task.check_in',
  'task.requires_action',
  'task.done',
  'task.canceled',
  'webhook.test',
] as const;

export const EventName = z.enum(EVENT_NAMES).meta({
  id: 'EventName',
  description: 'What happened. `webhook.test` comes from the test operation alone.',
});
export type EventName = z.infer<typeof EventName>;

/** An event that a Task transition emits; only the test operation sends `webhook.test` (spec section 3). */
export const TaskEventName = EventName.exclude(['webhook.test']);
export type TaskEventName = z.infer<typeof TaskEventName>;
