import { parse, type ParsedUrlQuery } from 'node:querystring';
import { type InputProblem, type InputProblemCode, toPointer, ValidationError } from '@herald/core';
import type { RequestHandler } from 'express';
import { z } from 'zod';

/** How many problems an answer lists. A small body can have very many, and its answer must stay small. */
const PROBLEM_LIMIT = 50;
/** How many unknown fields of one object it lists. */
const UNKNOWN_LIMIT = 10;
/**
 * How many values an input may have, without those of fields that take any JSON. Each may be a problem, and 25,000 of
 * them would keep everybody waiting for 0.1 s.
 */
const VALUES_LIMIT = 1_000;

/**
 * Reads a JSON value.
 * @param whole what the value is called in a sentence about all of it
 * @throws ValidationError with its problems
 */
export function readInput<Schema extends z.ZodType>(schema: Schema, value: unknown, whole?: string): z.infer<Schema> {
  const problem = judgeJson(value);
  if (problem) throw new ValidationError([problem], whole);
  return readFields(schema, value, whole);
}

/** Reads a query, or a JSON value whose parts `readInput` will read. @throws ValidationError with its problems */
export function readFields<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole = 'the body',
): z.infer<Schema> {
  if (countValues(value, freeFieldsOf(schema)) > VALUES_LIMIT) {
    throw new ValidationError(
      [{ path: '', message: `has more than ${VALUES_LIMIT} values; no input has so many` }],
      whole,
    );
  }
  const parsed = schema.safeParse(value, { error: ruleOf });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const listed = issues.slice(0, PROBLEM_LIMIT).flatMap(toInputProblems).slice(0, PROBLEM_LIMIT);
  const count = issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  const more = count - listed.length;
  throw new ValidationError(more > 0 ? [...listed, { path: '', message: `has ${more} more problems` }] : listed, whole);
}

/** Counts values within each other, a few beyond the limit at most. */
function countValues(value: unknown, freeFields: ReadonlySet<string>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const names = Object.keys(value);
  let count = names.length;
  for (let at = 0; at < names.length && count <= VALUES_LIMIT; at++) {
    const name = names[at] ?? '';
    if (!freeFields.has(name)) count += countValues((value as Record<string, unknown>)[name], freeFields);
  }
  return count;
}

const freeFields = new WeakMap<z.core.$ZodType, ReadonlySet<string>>();

/** The names of fields that may have any JSON, also as a list: nobody looks at each value of these. */
function freeFieldsOf(schema: z.core.$ZodType): ReadonlySet<string> {
  const known = freeFields.get(schema);
  if (known) return known;
  const names = new Set<string>();
  /** Returns whether it takes anything, or an object with any other fields. */
  const walk = (part: z.core.$ZodType): boolean => {
    const def = part._zod.def as z.core.$ZodTypeDef & Partial<DefParts>;
    for (const [name, field] of Object.entries(def.shape ?? {})) if (walk(field)) names.add(name);
    def.options?.forEach(walk);
    const inner = def.innerType ?? def.element ?? def.in ?? def.catchall;
    return def.type === 'unknown' || (inner !== undefined && walk(inner));
  };
  walk(schema);
  freeFields.set(schema, names);
  return names;
}

/** Where the definition of a schema has the schemas of its parts. */
type DefParts = {
  readonly shape: Readonly<Record<string, z.core.$ZodType>>;
  readonly options: readonly z.core.$ZodType[];
  readonly innerType: z.core.$ZodType;
  readonly element: z.core.$ZodType;
  readonly in: z.core.$ZodType;
  readonly catchall: z.core.$ZodType;
};

function toInputProblems(issue: z.core.$ZodIssue): InputProblem[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys')
    return [{ path: path.join('.'), message: issue.message, code: codeOf(issue), pointer: toPointer(path) }];
  const known = issue.message === '' ? [] : issue.message.split(', ');
  return issue.keys.slice(0, UNKNOWN_LIMIT).map((name) => ({
    path: [...path, toShownName(name)].join('.'),
    message: describeUnknownName(name, known, 'is not a field here'),
    code: 'unknown',
    pointer: toPointer([...path, toShownName(name)]),
  }));
}

function codeOf(issue: z.core.$ZodIssue): InputProblemCode {
  if (/^is required\b/.test(issue.message)) return 'required';
  switch (issue.code) {
    case 'invalid_type':
      return 'wrong_type';
    case 'invalid_value':
    case 'invalid_union':
      return 'not_allowed';
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_long' : 'too_large';
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_short' : 'too_small';
    case 'custom':
      return (issue.params as { readonly code?: InputProblemCode } | undefined)?.code ?? 'invalid';
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return 'invalid';
  }
}

const DEPTH_LIMIT = 64;

/** Finds the problem of a JSON value that no operation accepts. */
export function judgeJson(value: unknown): InputProblem | undefined {
  const found = findProblem(value, DEPTH_LIMIT);
  return found && { path: found.path.reverse().join('.'), message: found.message };
}

/** Returns the path innermost first. It is built on the way back, so that a value without problems costs nothing. */
function findProblem(value: unknown, levels: number): { path: string[]; message: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return { path: [], message: `is nested deeper than ${DEPTH_LIMIT} levels` };
  // Libraries drop this name for safety. Herald never drops a field silently.
  if (Object.hasOwn(value, '__proto__')) {
    return { path: ['__proto__'], message: 'must not be used as the name of a field' };
  }
  for (const [index, item] of Object.values(value).entries()) {
    const found = findProblem(item, levels - 1);
    if (found) {
      found.path.push((Object.keys(value)[index] ?? '').slice(0, 64));
      return found;
    }
  }
  return undefined;
}

/** A name that takes more changes than this share of its letters is another word. */
const DISTANCE_SHARE = 0.4;

/** The known name that somebody most likely meant, such as `events` for `event` or `Evnets`. */
export function findNearest(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }));
  const [nearest] = distances.sort((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= nearest.each.length * DISTANCE_SHARE ? nearest.each : undefined;
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1];
    for (let index = 0; index < to.length; index++) {
      const replaced = (row[index] ?? 0) + (from[at] === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const UNDOCUMENTED = 'has a form that is not documented';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

/** In what a length is counted. A number has none. */
const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'items' };

/**
 * The rule that an input breaks, as the rest of a sentence that begins with the field: `is required`. A rule that stands
 * at the schema itself comes first. Of unknown fields it is the list of the known ones, which `readFields` splits.
 */
function ruleOf(issue: Issue): string {
  const isMissing = issue.input === undefined;
  switch (issue.code) {
    case 'invalid_type':
      return isMissing
        ? 'is required'
        : `must be ${isWhole(issue) ? 'a whole number' : (TYPES[issue.expected] ?? issue.expected)}`;
    case 'invalid_value':
      return isMissing ? `is required: ${oneOf(issue.values)}` : `must be ${oneOf(issue.values)}`;
    case 'invalid_union':
      return ruleOfUnion(issue);
    case 'too_big': {
      const unit = UNITS[issue.origin];
      return unit === undefined ? `must be at most ${issue.maximum}` : `must have at most ${issue.maximum} ${unit}`;
    }
    case 'too_small': {
      const unit = UNITS[issue.origin];
      if (unit === undefined) return `must be at least ${issue.minimum}`;
      return issue.minimum === 1 ? 'must not be empty' : `must have at least ${issue.minimum} ${unit}`;
    }
    case 'unrecognized_keys':
      return knownNames(issue.inst).join(', ');
    // Schemas with these have sentences of their own.
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'not_multiple_of':
      return UNDOCUMENTED;
  }
}

/** `z.int()` says of a text that a number is expected. */
function isWhole({ inst, expected }: Issue & { readonly expected: string }): boolean {
  return expected === 'number' && (inst?._zod.def as { readonly format?: string } | undefined)?.format === 'safeint';
}

/** Of a union by a field such as `type`, the issue stands at that field. Any other union states its own rule. */
function ruleOfUnion({ input, discriminator, options }: Issue & { readonly code: 'invalid_union' }): string {
  if (discriminator === undefined || !Array.isArray(options)) return UNDOCUMENTED;
  const given = (input as Readonly<Record<string, unknown>>)[discriminator];
  return given === undefined ? `is required: ${oneOf(options)}` : `must be ${oneOf(options)}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function knownNames(inst: Issue['inst']): string[] {
  const { shape = {} } = (inst?._zod.def ?? {}) as { readonly shape?: object };
  return Object.keys(shape);
}

const LIMIT_CHARACTERS = 64;

/** An unknown name as an answer shows it. */
function toShownName(name: string): string {
  return name === '' ? '""' : name.slice(0, LIMIT_CHARACTERS);
}

/**
 * The rest of a sentence that begins with an unknown name, with the known name that is like it, or with all known ones.
 * @param rule such as `is not a field here`
 */
function describeUnknownName(name: string, known: readonly string[], rule: string): string {
  const nearest = findNearest(name.slice(0, LIMIT_CHARACTERS), known);
  if (nearest !== undefined) return `${rule}; did you mean \`${nearest}\`?`;
  const [only, ...others] = known;
  if (only === undefined) return `${rule}; there are none`;
  return `${rule}; ${others.length === 0 ? `the only one is ${only}` : `known are ${known.join(', ')}`}`;
}

/** Reads every parameter of a query. By default Node ignores those after the thousandth. */
export function parseQuery(text: string | null): ParsedUrlQuery {
  return parse(text ?? '', '&', '=', { maxKeys: 0 });
}

/** Refuses every query parameter. */
export const refuseQuery: RequestHandler = (req, _res, next) => {
  judgeQuery(req.query);
  next();
};

/**
 * Refuses query parameters that the schema doesn't name, and those given twice. The route reads the values.
 * @param schema absent: there are no parameters
 */
export function judgeQuery(query: object, schema?: z.ZodType): void {
  const names = new Set(schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
  const known = [...names];
  const wrong = Object.entries(query).filter(([name, value]) => !names.has(name) || Array.isArray(value));
  if (wrong.length === 0) return;
  const problems = wrong.slice(0, PROBLEM_LIMIT).map(([name]) => ({
    path: toShownName(name),
    message: names.has(name)
      ? 'must be given once'
      : describeUnknownName(name, known, 'is not a parameter of this operation'),
    code: names.has(name) ? ('invalid' as const) : ('unknown' as const),
    pointer: toPointer([toShownName(name)]),
  }));
  throw new ValidationError(problems);
}
