import { EventFormatError } from './event-format-error.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Checks one value; throws `EventFormatError` with its path. */
export type Check = (value: unknown, path: string) => void;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expecting(expected: string, holds: (value: unknown) => boolean): Check {
  return (value, path) => {
    if (!holds(value)) throw new EventFormatError(path, expected);
  };
}

export const text = expecting('a string', (value) => typeof value === 'string');
export const number = expecting('a number', (value) => typeof value === 'number');
export const integer = expecting('an integer', Number.isSafeInteger);
export const flag = expecting('true or false', (value) => typeof value === 'boolean');

export function optional(check: Check): Check {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

/** Unknown fields are accepted: a later Herald may send more. */
export function object(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isJsonObject(value)) throw new EventFormatError(path, 'an object');
    for (const [name, check] of Object.entries(checks)) {
      check(Object.hasOwn(value, name) ? value[name] : undefined, path === '' ? name : `${path}.${name}`);
    }
  };
}

export function list(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) throw new EventFormatError(path, 'an array');
    for (const [index, item] of (value as unknown[]).entries()) check(item, `${path}[${index}]`);
  };
}
