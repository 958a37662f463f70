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

/** What Herald tells the platform that runs it about an endpoint, where `NOTICE_URL` is set. No receiver gets these. */
export const NOTICE_EVENTS = [
  'receiver.failing',
  'receiver.disabled',
  'receiver.recovered',
  'callback.disabled',
] as const;

export const NoticeEvent = z.enum(NOTICE_EVENTS);
export type NoticeEvent = z.infer<typeof NoticeEvent>;

/** The event of any delivery. */
export const DeliveryEvent = z.enum([...EVENT_NAMES, ...NOTICE_EVENTS]);
export type DeliveryEvent = z.infer<typeof DeliveryEvent>;

export function isNotice(event: DeliveryEvent): event is NoticeEvent {
  return (NOTICE_EVENTS as readonly string[]).includes(event);
}

/** An event that a Task transition emits; only the test operation sends `webhook.test` (spec section 3). */
export const TaskEventName = EventName.exclude(['webhook.test']);
export type TaskEventName = z.infer<typeof TaskEventName>;
