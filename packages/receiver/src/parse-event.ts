import { EVENT_NAMES, EventFormatError, type EventName, type HeraldEvent } from './event.ts';
import { bytesOf, type RawBody } from './signatures.ts';

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
