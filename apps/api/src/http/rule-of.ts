import type { z } from 'zod';

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
export function ruleOf(issue: Issue): string {
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
