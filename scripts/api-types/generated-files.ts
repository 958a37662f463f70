import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { createOpenApiDocument } from '../../apps/api/src/documents/create-document.ts';
import { clientDocument } from './client-document.ts';
import { renderOperations } from './render-operations.ts';

/**
 * The files that are made of the OpenAPI document, and how. The client's part of it is smaller than the console's, and
 * open: the console comes with its API, while a client may be older than that.
 */
export const GENERATED_FILES: readonly { readonly file: URL; readonly render: () => Promise<string> | string }[] = [
  {
    file: new URL('../../apps/console/src/api/api-types.ts', import.meta.url),
    render: () => renderApiTypes(createOpenApiDocument(), { isOpen: false }),
  },
  {
    file: new URL('../../packages/client/src/api/api-types.ts', import.meta.url),
    render: () => renderApiTypes(clientDocument(createOpenApiDocument()), { isOpen: true }),
  },
  {
    file: new URL('../../packages/client/src/api/operations.ts', import.meta.url),
    render: () => renderOperations(createOpenApiDocument()),
  },
];

type Options = {
  /** Whether a list of known values may have others, which a later version answers with. */
  readonly isOpen: boolean;
};

/** The types of an API's requests and answers. */
async function renderApiTypes(document: object, { isOpen }: Options): Promise<string> {
  // It reads a document as JSON has it.
  const types = await openapiTypescript(JSON.stringify(document), {
    defaultNonNullable: false,
    transform: (schema) => toKnownValues(schema as { 'x-extensible-enum'?: (string | number)[] }, isOpen),
  });
  return `// Written by \`npm run api:types\` from the OpenAPI document.\n${astToString(types)}`;
}

/** `"a" | "b"`, and `| (string & {})` if others may come: editors propose the known ones then, too. */
function toKnownValues(schema: { readonly 'x-extensible-enum'?: readonly (string | number)[] }, isOpen: boolean) {
  const { factory, SyntaxKind } = ts;
  const values = schema['x-extensible-enum'];
  if (!values) return undefined;
  const known = values.map((value) =>
    factory.createLiteralTypeNode(
      typeof value === 'string' ? factory.createStringLiteral(value) : factory.createNumericLiteral(value),
    ),
  );
  const word = typeof values[0] === 'string' ? SyntaxKind.StringKeyword : SyntaxKind.NumberKeyword;
  const any = factory.createIntersectionTypeNode([
    factory.createKeywordTypeNode(word),
    factory.createTypeLiteralNode([]),
  ]);
  return factory.createUnionTypeNode(isOpen ? [...known, any] : known);
}
