import { ATTEMPT_ERRORS, codesOf, DELIVERY_REASONS, PROBLEMS, READINESS_CODES, type CodeTable } from '@herald/core';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createOpenApiDocument } from './create-document.ts';

// As a reader gets it.
const document = JSON.parse(JSON.stringify(createOpenApiDocument())) as Record<string, unknown>;

type Node = Readonly<Record<string, unknown>>;

const TABLES: readonly CodeTable[] = [PROBLEMS, ATTEMPT_ERRORS, DELIVERY_REASONS, READINESS_CODES];

/** Every object in the document, with where it is as a JSON pointer. */
function* walk(node: unknown, pointer = ''): Generator<[string, Node]> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield [pointer, node as Node];
  for (const [key, value] of Object.entries(node)) {
    yield* walk(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

const nodes = [...walk(document)];
const schemas = nodes.filter(([pointer]) => /\/(schema|components\/schemas\/[^/]+)$/.test(pointer));

function createAjv() {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.addSchema(document, 'document');
}
const ajv = createAjv();

function compiled(pointer: string): ValidateFunction {
  const validate = ajv.getSchema(`document#${pointer}`);
  if (!validate) throw new Error(`nothing at ${pointer}`);
  return validate;
}

test('the document is valid OpenAPI 3.1', () => {
  const path = new URL('../../../../tests/fixtures/openapi-3.1.schema.json', import.meta.url);
  const specification = new Ajv2020({ strict: false });
  addFormats.default(specification);
  specification.addFormat('media-range', true);
  // ajv looks for the anchor in the wrong place; the reference is the same.
  const text = readFileSync(path, 'utf8').replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"');
  const validate = specification.compile(JSON.parse(text) as object);
  for (const part of ['all', 'customers', 'operators'] as const) {
    validate(JSON.parse(JSON.stringify(createOpenApiDocument(part))));
    expect(validate.errors).toBeNull();
  }
  expect(validate({ ...document, openapi: '3.0.0' })).toBe(false);
});

test.each([
  ['all', 100],
  ['customers', 100],
  ['operators', 10],
] as const)('every reference leads somewhere, in the document of %s', (part, count) => {
  const all = [...walk(JSON.parse(JSON.stringify(createOpenApiDocument(part))))];
  const pointers = new Set(all.map(([pointer]) => `#${pointer}`));
  const references = all.flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
  expect(references.length).toBeGreaterThan(count);
  expect(references.filter((reference) => !pointers.has(reference))).toEqual([]);
});

test('operation ids are unique', () => {
  const ids = nodes.flatMap(([, { operationId }]) => (typeof operationId === 'string' ? [operationId] : []));
  expect(ids.length).toBeGreaterThan(25);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('the codes of problems, attempts and readiness are closed lists, in which a batch item has its own', () => {
  const enums = Object.fromEntries(
    nodes.flatMap(([pointer, { enum: codes }]) => (Array.isArray(codes) ? [[pointer, codes as unknown[]]] : [])),
  );
  const listed = ['ProblemCode', 'AttemptError', 'DeliveryReason', 'ReadinessCode', 'ItemProblem/properties/code'];
  const lengths = listed.map((name) => enums[`/components/schemas/${name}`]?.length);
  expect(lengths).toEqual([...TABLES.map((table) => codesOf(table).length), 6]);
  expect(JSON.stringify(document)).not.toContain('"override"');
});

test('every schema compiles', () => {
  expect(schemas.length).toBeGreaterThan(100);
  for (const [pointer] of schemas) expect(typeof compiled(pointer)).toBe('function');
});

test('every example is valid', () => {
  const examples = [
    ...schemas.flatMap(([pointer, { examples }]) =>
      Array.isArray(examples) ? examples.map((value: unknown) => ({ pointer, value })) : [],
    ),
    ...nodes.flatMap(([pointer, { schema, examples }]) =>
      typeof schema === 'object' && typeof examples === 'object' && examples !== null
        ? Object.values(examples).map(({ value }) => ({ pointer: `${pointer}/schema`, value: value as unknown }))
        : [],
    ),
  ];
  expect(examples.length).toBeGreaterThan(50);
  for (const { pointer, value } of examples) {
    const validate = compiled(pointer);
    validate(value);
    expect({ pointer, value, errors: validate.errors }).toEqual({ pointer, value, errors: null });
  }
});

test('every operation says what it is for, and every parameter of its path', () => {
  for (const [pointer, { operationId, summary, description, tags, parameters }] of nodes) {
    if (operationId === undefined || !pointer.startsWith('/paths/')) continue;
    const path = pointer.replaceAll('~1', '/').replace(/\/\w+$/, '');
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = ((parameters ?? []) as { in: string; name: string }[])
      .filter((parameter) => parameter.in === 'path')
      .map(({ name }) => name);
    expect({ pointer, summary, tags, description, described }).toEqual({
      pointer,
      summary: expect.any(String) as string,
      tags: [expect.any(String)],
      description: expect.any(String) as string,
      described: named,
    });
  }
});
