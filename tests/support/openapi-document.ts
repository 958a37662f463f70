import { readFileSync } from 'node:fs';
import { createSchemas } from './create-schemas.ts';

export interface Reference {
  $ref: string;
}

export interface MediaType {
  schema: object;
}

export interface HeaderObject {
  required?: boolean;
  schema: object;
}

export interface ResponseObject {
  'x-problem-codes'?: readonly string[];
  headers?: Readonly<Record<string, HeaderObject | Reference>>;
  content?: Readonly<Record<string, MediaType>>;
}

export interface ParameterObject {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: object;
}

export interface OperationObject {
  operationId: string;
  security?: readonly Readonly<Record<string, readonly string[]>>[];
  parameters?: readonly (ParameterObject | Reference)[];
  requestBody?: { required?: boolean; content: Readonly<Record<string, MediaType>> };
  responses: Readonly<Record<string, ResponseObject | Reference>>;
}

type PathItems = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

/** The parts of the document that tests go by. */
export interface Document {
  paths: PathItems;
  webhooks: PathItems;
}

/** As readers get it: the answer of `GET /openapi.json`. */
export const document = JSON.parse(await readDocument()) as Document;

/** Jest's global setup has written it. To make it, the whole API must be imported. */
async function readDocument(): Promise<string> {
  const file = process.env.HERALD_TEST_OPENAPI;
  if (file !== undefined) return readFileSync(file, 'utf8');
  const { createOpenApiDocument } = await import('../../apps/api/src/documents/create-document.ts');
  return JSON.stringify(createOpenApiDocument());
}

const schemas = createSchemas(document);

/** `path` from keys, as a JSON pointer. */
export function pointerTo(...keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The object itself, or what it refers to; with where that is. */
export function resolve<Item extends object>(item: Item | Reference, pointer: string): { item: Item; pointer: string } {
  if (!('$ref' in item)) return { item, pointer };
  const keys = item.$ref.slice(2).split('/');
  const target = keys.reduce<unknown>(
    (node, key) => (node as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  return { item: target as Item, pointer: item.$ref.slice(1) };
}

/** What of a value breaks the schema at a place in the document; empty: nothing. */
export function findSchemaBreaches(pointer: string, value: unknown): string[] {
  return [...schemas.findBreaches(pointer, JSON.stringify(value))];
}
