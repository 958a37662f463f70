import { readFileSync } from 'node:fs';
import { ATTEMPT_ERRORS, codesOf, type CodeTable, DELIVERY_REASONS, PROBLEMS, READINESS_CODES } from '@herald/core';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
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
  // ajv looks for the anchor in the wrong place; the reference is the same. The url of a server may be a template.
  const text = readFileSync(path, 'utf8').replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"');
  const schema = JSON.parse(text) as { $defs: { server: { properties: { url: { format?: string } } } } };
  delete schema.$defs.server.properties.url.format;
  const validate = specification.compile(schema);
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

test('the codes of problems, attempts and readiness are lists of known values', () => {
  const known = Object.fromEntries(
    nodes.flatMap(([pointer, { 'x-extensible-enum': codes }]) => (Array.isArray(codes) ? [[pointer, codes]] : [])),
  );
  const listed = ['ProblemCode', 'AttemptError', 'DeliveryReason', 'ReadinessCode'];
  const lengths = listed.map((name) => (known[`/components/schemas/${name}`] as unknown[] | undefined)?.length);
  expect(lengths).toEqual(TABLES.map((table) => codesOf(table).length));
  expect(JSON.stringify(document)).not.toContain('"override"');
});

/** What a part of the document says by itself and by its references, each once. */
function reachedFrom(part: unknown): Node[] {
  const byPointer = new Map(nodes.map(([pointer, node]) => [`#${pointer}`, node]));
  const seen = new Set<Node>();
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || seen.has(node as Node)) return;
    if (!Array.isArray(node)) seen.add(node as Node);
    for (const [name, value] of Object.entries(node)) {
      if (name === '$ref') look(byPointer.get(String(value)));
      // What stands there is no schema.
      else if (name !== 'examples' && name !== 'example') look(value);
    }
  };
  look(part);
  return [...seen];
}

type Described = {
  readonly operationId: string;
  readonly requestBody?: object;
  readonly parameters?: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
};
const operations = nodes.flatMap(([pointer, node]) =>
  typeof node.operationId === 'string' ? [{ pointer, ...(node as unknown as Described) }] : [],
);
const webhooks = operations.filter(({ pointer }) => pointer.startsWith('/webhooks/'));
const called = operations.filter(({ pointer }) => pointer.startsWith('/paths/'));

// Else the first release that adds a field, a code or an event breaks the clients made of this document.
test('answers and webhooks are open: for fields, and for values of their lists', () => {
  const sent = [...called.map(({ responses }) => responses), ...webhooks.map(({ requestBody }) => requestBody)];
  const parts = reachedFrom(sent).filter(({ schema, name }) => !(schema !== undefined && name !== undefined));
  expect(parts.length).toBeGreaterThan(500);
  expect(parts.filter(({ additionalProperties }) => additionalProperties === false)).toEqual([]);
  expect(parts.filter((part) => Array.isArray(part.enum))).toEqual([]);
  expect(parts.filter((part) => typeof part.const === 'boolean')).toEqual([]);
});

test('requests are closed: for fields, but where an executor may add some, and for values', () => {
  const parts = reachedFrom(called.map(({ requestBody, parameters }) => [requestBody, parameters]));
  const objects = parts.filter(({ type, properties }) => type === 'object' && properties !== undefined);
  expect(objects.length).toBeGreaterThan(20);
  const open = objects.filter(({ additionalProperties }) => additionalProperties !== false);
  expect(open.map(({ description }) => String(description).split('.')[0])).toEqual([
    'The outcome of a piece of work',
    'Something that a person must approve',
    'One of the answers to choose from',
  ]);
  expect(parts.filter((part) => 'x-extensible-enum' in part)).toEqual([]);
});

test('every error is the one Problem, and each response says which codes it may have', () => {
  const responses = nodes.filter(([, { 'x-problem-codes': codes }]) => codes !== undefined);
  expect(responses.length).toBeGreaterThan(80);
  for (const [pointer, { content, 'x-problem-codes': codes, description }] of responses) {
    expect({ pointer, content }).toMatchObject({
      pointer,
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    });
    for (const code of codes as string[]) expect(description).toContain(`\`${code}\``);
    expect({ pointer, codes: [...new Set(codes as string[])] }).toEqual({ pointer, codes });
  }
  const texts = JSON.stringify(called.map((each) => each.responses));
  expect(texts.match(/"#\/components\/schemas\/\w*Problem\w*"/g)).toContain('"#/components/schemas/Problem"');
  expect(
    Object.keys((document.components as { schemas: object }).schemas).filter((name) => name.includes('Problem')),
  ).toEqual(['Problem', 'ProblemCode', 'InputProblem']);
  for (const { responses: each } of called) expect(each.default).toEqual({ $ref: '#/components/responses/problem' });
  expect(JSON.stringify((document.components as { responses: object }).responses)).toContain('method_not_allowed');
});

test('whatever changes something says that it may be 412, and nothing else does', () => {
  type Methods = Readonly<Record<string, { readonly operationId: string; readonly responses: object }>>;
  const methods = Object.values(document.paths as Readonly<Record<string, Methods>>).flatMap((item) =>
    Object.entries(item),
  );
  for (const [method, { operationId, responses }] of methods) {
    expect({ operationId, has412: '412' in responses }).toEqual({ operationId, has412: method !== 'get' });
  }
});

test('lists of values and unions in requests and answers have names', () => {
  const isNamed = (pointer: string) => /^\/components\/schemas\/\w+$/.test(pointer);
  const isNullable = (options: readonly Node[]) => options.length === 2 && options.some(({ type }) => type === 'null');
  const nameless = nodes.filter(
    ([pointer, { enum: values, anyOf, oneOf, allOf }]) =>
      !isNamed(pointer) &&
      (Array.isArray(values) || [anyOf, oneOf, allOf].some((each) => each && !isNullable(each as Node[]))),
  );
  expect(nameless.map(([pointer]) => pointer)).toEqual([]);
});

// A generator names an object after its field. With the name of a schema, one of the two becomes `ReceiverModel`.
test('no object without a name is called as a schema', () => {
  const named = new Set(Object.keys((document.components as { schemas: object }).schemas));
  const objects = nodes.flatMap(([pointer, { type, properties }]) => {
    const [, field = '', isItem] = /\/properties\/(\w+)(\/items)?(?:\/anyOf\/\d)?$/.exec(pointer) ?? [];
    if (type !== 'object' || properties === undefined || field === '') return [];
    const name = field.replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase());
    return [{ pointer, names: [name, ...(isItem === undefined ? [] : [name.replace(/s$/, '')])] }];
  });
  expect(objects.length).toBeGreaterThan(8);
  expect(objects.filter(({ names }) => names.some((name) => named.has(name)))).toEqual([]);
});

test('a secret is required where it is shown, and what is repeated is a schema of its own', () => {
  const { schemas: all } = document.components as { schemas: Record<string, { required?: string[]; anyOf?: Node[] }> };
  for (const name of ['RegisteredReceiver', 'CreatedCallback', 'SecretRotated'])
    expect(all[name]?.required).toContain('secret');
  expect(all.PortalLink?.required).toEqual(expect.arrayContaining(['url', 'token']));
  for (const name of ['ReceiverRegistration', 'TaskCreation', 'SecretRotation', 'PortalLinkCreation']) {
    expect(all[name]?.anyOf).toHaveLength(2);
  }
});

type Property = Node & { readonly $ref?: string };
const fieldsOf = (schema: Property): Readonly<Record<string, Property>> =>
  Object.assign({}, ...reachedFrom(schema).map(({ properties }) => properties ?? {})) as Record<string, Property>;
const schemaAt = (node: unknown): Property =>
  (node as { content?: Record<string, { schema: Property }> } | undefined)?.content?.['application/json']?.schema ?? {};

test('a length of time has its unit in its name', () => {
  const isTime = /timeout|overlap|expires|duration|delay(?!ed)|interval|bucket|retry|oldest|empty|full|^p\d\d/i;
  const numbers = nodes.flatMap(([, { properties }]) =>
    Object.entries((properties ?? {}) as Record<string, Property>).filter(([name, { type, anyOf }]) => {
      const types = [type, ...((anyOf ?? []) as Node[]).map((each) => each.type)];
      return isTime.test(name) && types.some((each) => each === 'integer' || each === 'number');
    }),
  );
  expect(numbers.length).toBeGreaterThan(10);
  expect(numbers.map(([name]) => name).filter((name) => !/(Seconds|Hours|Ms)$/.test(name))).toEqual([]);
  const texts = nodes.filter(([pointer]) => /\/properties\/\w*(timeout|overlap)\w*(?<!At)$/i.test(pointer));
  expect(texts.filter(([, { type, deprecated }]) => type === 'string' && deprecated !== true)).toEqual([]);
});

test('receivers and callbacks are told apart wherever one is named', () => {
  const named = nodes.filter(([pointer]) => pointer.endsWith('/properties/endpointId'));
  expect(named.length).toBeGreaterThan(2);
  for (const [pointer, { deprecated }] of named) {
    expect({ pointer, deprecated }).toEqual({ pointer, deprecated: true });
    const of = nodes.find(([each]) => each === pointer.replace(/\/endpointId$/, ''))?.[1];
    expect(Object.keys(of ?? {})).toEqual(expect.arrayContaining(['receiverId', 'callbackId']));
  }
});

test('a query parameter is called as a field of what is listed, unless it is one of a few words', () => {
  // Pages, times, what is looked for, and the status of the last attempt beside that of the delivery.
  const words = ['limit', 'cursor', 'sinceCursor', 'since', 'until', 'events', 'find', 'q', 'httpStatus'];
  const strange = called.flatMap(({ operationId, parameters = [], responses }) => {
    const fields = fieldsOf(schemaAt(responses['200']));
    return (parameters as { in: string; name: string; deprecated?: boolean }[])
      .filter((each) => each.in === 'query' && each.deprecated !== true && !words.includes(each.name))
      .filter(({ name }) => !(name in fields))
      .map(({ name }) => `${operationId} ${name}`);
  });
  // What it tells is of the receiver that was asked for.
  expect(strange).toEqual(['readActivity receiverId', 'readActivity callbackId']);
});

test('what a PATCH can set is always in the answer, and what the answer has can be sent back', () => {
  const patches = called.filter(({ pointer }) => pointer.endsWith('/patch'));
  expect(patches.map(({ operationId }) => operationId).sort()).toEqual(['changeCallback', 'changeReceiver']);
  for (const { requestBody, responses } of patches) {
    const [taken, given] = [requestBody, responses['200']].map(
      (each) => nodes.find(([pointer]) => `#${pointer}` === schemaAt(each).$ref)?.[1],
    );
    const fields = (taken?.properties ?? {}) as Record<string, Property>;
    expect(Object.keys(given?.properties ?? {}).filter((name) => !(name in fields))).toEqual([]);
    const settable = Object.keys(fields).filter((name) => fields[name]?.readOnly !== true);
    expect(settable.length).toBeGreaterThan(5);
    // The values of headers are never shown.
    expect(settable.filter((name) => !(given?.required as string[] | undefined)?.includes(name))).toEqual(['headers']);
  }
});

test('a parameter that is deprecated says so itself, and each says what it is', () => {
  const parameters = called.flatMap((each) => (each.parameters ?? []) as (Node & { schema?: Node })[]);
  const own = parameters.filter(({ schema }) => schema !== undefined);
  expect(own.filter(({ deprecated }) => deprecated === true).map(({ name }) => name)).toEqual([
    'receiver',
    'task',
    'receiver',
    'workspace',
  ]);
  expect(own.filter(({ deprecated, schema }) => deprecated !== schema?.deprecated)).toEqual([]);
  expect(own.filter((each) => each.in === 'query' && each.description === undefined).map(({ name }) => name)).toEqual(
    [],
  );
});

test('operation ids read as methods, the legacy one is deprecated, and a client can be told where the service is', () => {
  for (const { operationId } of operations) expect(operationId).toMatch(/^(is|[a-z]+)[A-Z][A-Za-z]+$/);
  const deprecated = nodes.filter(([pointer, node]) => pointer.startsWith('/paths/') && node.deprecated === true);
  expect(deprecated.map(([, { operationId }]) => operationId)).toContain('closeTask');
  expect(document.servers).toMatchObject([
    { url: '{origin}', variables: { origin: { default: 'http://127.0.0.1:8080' } } },
  ]);
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
      description: expect.stringMatching(/./) as string,
      described: named,
    });
  }
});

test('who needs no credentials is told of none that are missing', () => {
  const operations = nodes.map(([, node]) => node).filter((node) => 'operationId' in node && 'responses' in node);
  const asks = (node: Node) => node.security === undefined || (node.security as readonly unknown[]).length > 0;
  const [open, others] = [operations.filter((each) => !asks(each)), operations.filter(asks)];
  expect([open.length > 0, others.length > 0]).toEqual([true, true]);
  expect(open.filter(({ responses }) => '401' in (responses as object))).toEqual([]);
  expect(others.filter(({ responses }) => !('401' in (responses as object)))).toEqual([]);
});
