import openapiTypescript, { astToString } from 'openapi-typescript';

/** The types of an API's requests and answers. */
export async function renderApiTypes(document: object): Promise<string> {
  // It reads a document as JSON has it.
  const types = await openapiTypescript(JSON.stringify(document), { defaultNonNullable: false });
  return `// Written by \`npm run api:types\` from the OpenAPI document.\n${astToString(types)}`;
}
