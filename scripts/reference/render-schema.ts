import { nameOf, type ReadDocument, type Schema } from './openapi.ts';
import { renderTable } from './render-table.ts';

/** Schemas that are lists of codes, and the part of docs/errors.md that explains them. */
const CODES: Readonly<Record<string, string>> = {
  ProblemCode: 'answers-of-the-api',
  AttemptError: 'attempts',
  DeliveryReason: 'deliveries',
  ReadinessCode: 'readiness',
};

const LARGEST = Number.MAX_SAFE_INTEGER;

export function createSchemaRenderer({ components: { schemas } }: ReadDocument) {
  const find = (ref: string): Schema => {
    const schema = schemas[nameOf(ref)];
    if (!schema) throw new Error(`the document has no schema ${ref}`);
    return schema;
  };
  /** Whether the page shows it as an object of its own. */
  const isObject = (schema: Schema) => schema.properties !== undefined || schema.oneOf !== undefined;

  function typeText(schema: Schema): string {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      const codes = CODES[name];
      if (codes !== undefined) return `[code](errors.md#${codes})`;
      const target = find(schema.$ref);
      return isObject(target) ? `[${name}](#${name.toLowerCase()})` : typeText(target);
    }
    const several = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (several) return [...new Set(several.map(typeText))].join(schema.allOf ? ' and ' : ' or ');
    if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
    const values = schema.enum ?? schema['x-extensible-enum'];
    if (values) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
    if (schema.type === 'array')
      return `array of ${schema.items ? typeText(schema.items) : 'any JSON'}${countText(schema)}`;
    if (schema.properties) {
      const names = Object.keys(schema.properties).map((name) => `\`${name}\``);
      return names.length === 0 ? 'an empty object' : `object with ${names.join(', ')}`;
    }
    if (typeof schema.additionalProperties === 'object') return `object of ${typeText(schema.additionalProperties)}`;
    if (schema.format === 'date-time') return 'time';
    return schema.type === undefined ? 'any JSON' : `${schema.type}${rangeText(schema)}`;
  }

  /** What a field is for: its own words, or those of what it refers to. */
  function meaning(schema: Schema): string {
    if (schema.description !== undefined && schema.description !== 'An RFC 3339 time in UTC.')
      return schema.description;
    if (schema.$ref !== undefined && !(nameOf(schema.$ref) in CODES) && !isObject(find(schema.$ref)))
      return find(schema.$ref).description ?? '';
    return '';
  }

  const usualText = ({ default: usual }: Schema) =>
    usual === undefined ? '' : ` Default: \`${JSON.stringify(usual)}\`.`;

  /** The fields of an object: of a request with whether they are required, of an answer with whether they may be absent. */
  function renderFields(schema: Schema): string {
    const required = new Set(schema.required);
    return renderTable(
      ['field', 'type', 'meaning'],
      Object.entries(schema.properties ?? {}).map(([name, field]) => [
        `\`${name}\`${required.has(name) ? '' : '?'}`,
        typeText(field),
        `${meaning(field)}${usualText(field)}`,
      ]),
    );
  }

  /** A schema under a heading of its own. */
  function renderObject(name: string): string {
    const schema = schemas[name] ?? {};
    const parts = [`### ${name}`, schema.description];
    if (schema.oneOf) parts.push(`One of: ${schema.oneOf.map(typeText).join(', ')}.`);
    if (schema.properties) parts.push(renderFields(schema));
    return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
  }

  return {
    typeText,
    meaning,
    usualText,
    renderObject,
    objectNames: Object.keys(schemas).filter((name) => isObject(schemas[name] ?? {})),
  };
}

function countText({ minItems = 0, maxItems }: Schema): string {
  if (maxItems === undefined) return '';
  return minItems > 0 ? `, ${minItems} to ${maxItems}` : `, at most ${maxItems}`;
}

function rangeText({ minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  const [from, to] = [
    (minimum ?? -LARGEST) > -LARGEST ? minimum : undefined,
    (maximum ?? LARGEST) < LARGEST ? maximum : undefined,
  ];
  if (from !== undefined && to !== undefined) return `, ${from} to ${to}`;
  if (from !== undefined && from > 0) return `, at least ${from}`;
  return to === undefined ? '' : `, at most ${to}`;
}
