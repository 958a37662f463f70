import fc from 'fast-check';
import { resolve } from '../../support/openapi-document.ts';
import type { Random } from './random.ts';
import { hostileValue } from './hostile-values.ts';

/** The parts of JSON Schema that the document's requests use. */
interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
}

/** What to put in where no generator can know it, by the name of the component or of the field. */
export type KnownValues = Readonly<Record<string, (random: Random) => unknown>>;

/** A value that the schema allows. */
export function valueOf(given: object, random: Random, known: KnownValues): unknown {
  const schema = given as Schema;
  if (schema.$ref !== undefined) {
    const make = known[schema.$ref.replace(/^.*\//, '')];
    return make ? make(random) : valueOf(resolve<Schema>({ $ref: schema.$ref }, '').item, random, known);
  }
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return valueOf(random.pick(options) ?? {}, random, known);
  if ('const' in schema) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  switch (schema.type) {
    case undefined:
      return hostileValue(random);
    case 'object':
      return objectOf(schema, random, known);
    case 'array': {
      const { minItems = 0, maxItems = 5 } = schema;
      const length = minItems + random.below(Math.min(maxItems, minItems + 4) - minItems + 1);
      return Array.from({ length }, () => valueOf(schema.items ?? {}, random, known));
    }
    case 'string':
      return textOf(schema, random);
    case 'integer':
    case 'number':
      return numberOf(schema, random);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    default:
      return hostileValue(random);
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: Schema,
  random: Random,
  known: KnownValues,
) {
  const named = Object.entries(properties)
    .filter(([name]) => required.includes(name) || random.chance(0.5))
    .map(([name, schema]) => [name, (known[name] ?? ((each) => valueOf(schema, each, known)))(random)] as const);
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  const more = isOpen && random.chance(0.3) ? [[`field${random.below(3)}`, hostileValue(random)] as const] : [];
  return Object.fromEntries([...named, ...more]);
}

const samples = new Map<string, readonly string[]>();

function textOf({ pattern, format, minLength = 0, maxLength = 40 }: Schema, random: Random): string {
  if (format === 'date-time') return new Date(1_600_000_000_000 + random.below(2 ** 31) * 500).toISOString();
  if (pattern !== undefined) {
    const known = samples.get(pattern) ?? fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 100, seed: 1 });
    samples.set(pattern, known);
    return random.pick(known) ?? '';
  }
  const length = random.chance(0.02)
    ? maxLength
    : minLength + random.below(Math.min(maxLength, minLength + 30) - minLength + 1);
  return random.pick(['a', 'é', '字', '🙂', ' ']).repeat(length).slice(0, length);
}

function numberOf({ type, minimum = -1_000, maximum = 1_000_000 }: Schema, random: Random): number {
  const edge = random.below(10);
  if (edge === 0) return minimum;
  if (edge === 1) return maximum;
  const value = minimum + random.next() * (Math.min(maximum, minimum + 1_000) - minimum);
  return type === 'integer' ? Math.floor(value) : value;
}
