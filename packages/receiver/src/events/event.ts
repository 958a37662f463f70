/** Every event name that this version of the kit knows. */
export const EVENT_NAMES = [
  'task.check_in',
  'task.requires_action',
  'task.done',
  'task.canceled',
  'webhook.test',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** A status that a later Herald may add is passed on as it came. */
export type TaskStatus =
  'queued' | 'running' | 'requires_action' | 'done' | 'canceled' | (string & Record<never, never>);

export type Outcome = {
  readonly summary: string;
  /** 0 to 1. */
  readonly progress?: number;
};

export type ApprovalRequest = { readonly id: string; readonly title: string; readonly description?: string };
export type DecisionItem = { readonly id: string; readonly label: string; readonly description?: string };

/** What every event about a Task carries. */
export type TaskFacts = {
  /** Of the transition: the same at every endpoint. Deduplicate by the delivery's id instead. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Rises strictly from event to event of one Task. Deliveries may arrive in another order. */
  readonly sequence: number;
  readonly task: { readonly id: string; readonly status: TaskStatus };
};

/** After a material canonical checkpoint. */
export type CheckInEvent = TaskFacts & { readonly event: 'task.check_in'; readonly outcome: Outcome };

/** An approval or a decision is wanted. */
export type RequiresActionEvent = TaskFacts & {
  readonly event: 'task.requires_action';
  readonly outcome: Outcome;
  /** The primary one. */
  readonly approval_request: ApprovalRequest;
  /** To be sent back when the request is resolved. */
  readonly action_version: number;
  readonly decision_items: readonly DecisionItem[];
  /** Whether the API may resolve it; otherwise a person must, at `action_url`. */
  readonly api_resolvable: boolean;
  /** A page that asks for sign-in. */
  readonly action_url: string;
};

/** Terminal. Result, outcome and usage are read with `GET /tasks/{id}`. */
export type DoneEvent = TaskFacts & { readonly event: 'task.done' };
/** Terminal. */
export type CanceledEvent = TaskFacts & { readonly event: 'task.canceled' };

/** From the test operation; about no Task. */
export type TestEvent = { readonly event: 'webhook.test'; readonly id: string; readonly created_at: string };

/** An event that this version of the kit doesn't know: a later Herald may send more of them. */
export type UnknownEvent = {
  readonly event: 'unknown';
  readonly id: string;
  /** Its name, as sent. */
  readonly name: string;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** What a delivery says, to be told apart by `event`. */
export type HeraldEvent = CheckInEvent | RequiresActionEvent | DoneEvent | CanceledEvent | TestEvent | UnknownEvent;
