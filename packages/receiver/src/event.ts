import { bytesOf, type RawBody } from './signatures.ts';

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

/**
 * Parses the event of a body. Verify the signature first: this function doesn't. Unknown fields are kept, and an
 * unknown event becomes `unknown`, so that a newer Herald breaks no receiver.
 * @throws EventFormatError when the body isn't JSON, or a field of a known event is missing or has another type
 */
export function parseEvent(rawBody: RawBody): HeraldEvent {
  const body = parseJson(rawBody);
  if (!isJsonObject(body)) throw new EventFormatError('', 'a JSON object');
  const { id, event: name } = body;
  if (typeof name !== 'string') throw new EventFormatError('event', 'a string');
  if (isKnown(name)) {
    CHECKS[name](body, '');
    return body as HeraldEvent;
  }
  if (typeof id !== 'string') throw new EventFormatError('id', 'a string');
  return { event: 'unknown', id, name, body };
}

function isKnown(name: string): name is EventName {
  return (EVENT_NAMES as readonly string[]).includes(name);
}

function parseJson(rawBody: RawBody): unknown {
  const bytes = bytesOf(rawBody);
  if (bytes === undefined) throw new EventFormatError('', 'given raw, before any parser');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new EventFormatError('', 'JSON in UTF-8');
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Checks one value; throws `EventFormatError` with its path. */
type Check = (value: unknown, path: string) => void;

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expecting(expected: string, holds: (value: unknown) => boolean): Check {
  return (value, path) => {
    if (!holds(value)) throw new EventFormatError(path, expected);
  };
}

const text = expecting('a string', (value) => typeof value === 'string');
const number = expecting('a number', (value) => typeof value === 'number');
const integer = expecting('an integer', Number.isSafeInteger);
const flag = expecting('true or false', (value) => typeof value === 'boolean');

function optional(check: Check): Check {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

/** Unknown fields are accepted: a later Herald may send more. */
function object(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isJsonObject(value)) throw new EventFormatError(path, 'an object');
    for (const [name, check] of Object.entries(checks)) {
      check(Object.hasOwn(value, name) ? value[name] : undefined, path === '' ? name : `${path}.${name}`);
    }
  };
}

function list(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) throw new EventFormatError(path, 'an array');
    for (const [index, item] of (value as unknown[]).entries()) check(item, `${path}[${index}]`);
  };
}

const taskFacts = { id: text, created_at: text, sequence: integer, task: object({ id: text, status: text }) };
const outcome = object({ summary: text, progress: optional(number) });

const CHECKS: Readonly<Record<EventName, Check>> = {
  'task.check_in': object({ ...taskFacts, outcome }),
  'task.requires_action': object({
    ...taskFacts,
    outcome,
    approval_request: object({ id: text, title: text, description: optional(text) }),
    action_version: integer,
    decision_items: list(object({ id: text, label: text, description: optional(text) })),
    api_resolvable: flag,
    action_url: text,
  }),
  'task.done': object(taskFacts),
  'task.canceled': object(taskFacts),
  'webhook.test': object({ id: text, created_at: text }),
};
