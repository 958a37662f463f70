/** Every event name that this version of the kit knows. */
export const EVENT_NAMES = [
  'task.check_in',
  'task.requires_action',
  'task.done',
  'task.canceled',
  'webhook.test',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** A status of a later Herald is passed on unchanged. */
export type TaskStatus =
  | 'queued'
  | 'running'
  | 'requires_action'
  | 'done'
  | 'canceled'
  | (string & Record<never, never>);

export type Outcome = {
  readonly summary: string;
  /** 0 to 1. */
  readonly progress?: number;
};

export type ApprovalRequest = { readonly id: string; readonly title: string; readonly description?: string };
export type DecisionItem = { readonly id: string; readonly label: string; readonly description?: string };

/** The fields of every event about a Task. */
export type TaskFacts = {
  /** Id of the transition, the same at every endpoint. Deduplicate by the delivery's id instead. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Strictly increasing within a Task. Deliveries may arrive in another order. */
  readonly sequence: number;
  readonly task: { readonly id: string; readonly status: TaskStatus };
};

/** After a material canonical checkpoint. */
export type CheckInEvent = TaskFacts & { readonly event: 'task.check_in'; readonly outcome: Outcome };

/** The Task needs an approval or a decision. */
export type RequiresActionEvent = TaskFacts & {
  readonly event: 'task.requires_action';
  readonly outcome: Outcome;
  /** The primary request. */
  readonly approval_request: ApprovalRequest;
  /** Sent back when the request is resolved. */
  readonly action_version: number;
  readonly decision_items: readonly DecisionItem[];
  /** Whether the API may resolve the request; otherwise a person must, at `action_url`. */
  readonly api_resolvable: boolean;
  /** A page that asks for sign-in. */
  readonly action_url: string;
};

/** Terminal. Result, outcome and usage are read with `GET /tasks/{id}`. */
export type DoneEvent = TaskFacts & { readonly event: 'task.done' };
/** Terminal. */
export type CanceledEvent = TaskFacts & { readonly event: 'task.canceled' };

/** Sent by the test operation; it concerns no Task. */
export type TestEvent = { readonly event: 'webhook.test'; readonly id: string; readonly created_at: string };

/** An event of a later Herald, which this version of the kit doesn't know. */
export type UnknownEvent = {
  readonly event: 'unknown';
  readonly id: string;
  /** Its name, as sent. */
  readonly name: string;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** The event of a delivery; `event` tells the kinds apart. */
export type HeraldEvent = CheckInEvent | RequiresActionEvent | DoneEvent | CanceledEvent | TestEvent | UnknownEvent;

/**
 * Whether an event is a sample, which somebody sent with the test operation: it is signed like any other, and its Task
 * doesn't exist. Go by this and not by the header `x-service-sample`, which no signature covers.
 */
export function isSample(event: HeraldEvent): boolean {
  return 'task' in event && event.task.id.startsWith('task_sample');
}

/** The body is no event of Herald's: it isn't JSON, or lacks a required field. */
export class EventFormatError extends Error {
  override readonly name = 'EventFormatError';
  readonly code = 'event_format';
  /** The path of the field, such as `task.id`; empty for the whole body. */
  readonly path: string;
  constructor(path: string, expected: string) {
    super(`the webhook's body is no event: ${path === '' ? 'it' : path} must be ${expected}`);
    this.path = path;
  }
}
