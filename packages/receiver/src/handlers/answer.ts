import { describeRefusal } from '../signatures/describe-refusal.ts';
import type { Refusal } from '../signatures/judge-delivery.ts';

/** The answer to a request. Herald's delivery log shows the first 1 KiB of its body. */
export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
};

/** Errors while reading the body. */
export type BodyFault = 'body_too_large' | 'body_incomplete' | 'body_already_read';

export const ALREADY_READ =
  'the body was read before the webhook handler saw it, so its signature can no longer be checked: mount the handler before express.json() and every other body parser, or give its route express.raw({ type: "*/*" })';

const BODY_FAULTS: Readonly<Record<BodyFault, readonly [status: number, detail: string]>> = {
  body_too_large: [413, 'the body is longer than the receiver takes'],
  body_incomplete: [400, 'the body ended early'],
  body_already_read: [500, ALREADY_READ],
};

export function succeed(status: 'processed' | 'duplicate'): Answer {
  return { status: 200, body: { status } };
}

export function refuse(reason: Refusal): Answer {
  return { status: 401, body: { error: reason, detail: describeRefusal(reason) } };
}

export function refuseBody(fault: BodyFault): Answer {
  const [status, detail] = BODY_FAULTS[fault];
  // The rest of the body stays unread, so the connection can't be reused.
  const headers = fault === 'body_too_large' ? { connection: 'close' } : {};
  return { status, headers, body: { error: fault, detail } };
}

export function fail(status: number, error: string, detail: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers, body: { error, detail } };
}
