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
  description: 'What happened. Only the test operation sends `webhook.test`.',
});
export type EventName = z.infer<typeof EventName>;

/** An event that a Task transition emits; only the test operation sends `webhook.test` (spec section 3). */
export type TaskEventName = Exclude<EventName, 'webhook.test'>;
