import type { CodeTable } from './code-table.ts';

/** Why a delivery failed. */
const FAILURE_REASONS = {
  schedule_exhausted: {
    meaning: 'Every try of the schedule failed.',
    action: 'Read the attempts, fix the endpoint, then redeliver or replay.',
  },
  too_old: {
    meaning: 'It was not delivered within five days, or within the `maxRetryHours` of its receiver.',
    action: 'Read the attempts, fix the endpoint, then redeliver or replay.',
  },
  test_failed: {
    meaning: 'The receiver did not answer the test event with a 2xx.',
    action: 'Read the attempt, fix the receiver, and send another test event.',
  },
} as const satisfies CodeTable;

/** Why a delivery was canceled instead of sent. */
const CANCEL_REASONS = {
  receiver_disabled: {
    meaning: 'The endpoint was disabled.',
    action: 'Enable the endpoint, then replay the time in which it was disabled.',
  },
  receiver_removed: {
    meaning: 'The receiver was removed.',
    action: 'Register a receiver again if it was removed by mistake. It gets the deliveries of later transitions.',
  },
  not_sent_in_time: {
    meaning: 'No worker sent the test event in time.',
    action:
      'Send another test event. If it happens again, tell the operators: workers, or the proxy by which they send, may be missing.',
  },
  canceled_by_operator: {
    meaning: 'An operator of the service canceled it.',
    action: 'Ask the operators of the service. A replay sends it all the same.',
  },
  payload_erased: {
    meaning: 'The payloads of its Task were erased before it was delivered.',
    action: 'Nothing: there is nothing left to send.',
  },
  body_lost: {
    meaning: 'Redis lost the body of the event, which a failover can cause.',
    action: 'Read the Task with `GET /tasks/{id}`.',
  },
} as const satisfies CodeTable;

/** Every reason of a delivery that was not delivered. */
export const DELIVERY_REASONS = { ...FAILURE_REASONS, ...CANCEL_REASONS } as const satisfies CodeTable;

export type FailureReason = keyof typeof FAILURE_REASONS;
export type CancelReason = keyof typeof CANCEL_REASONS;
export type DeliveryReason = keyof typeof DELIVERY_REASONS;
