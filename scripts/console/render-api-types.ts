import openapiTypescript, { astToString } from 'openapi-typescript';
import { createOpenApiDocument } from '../../apps/api/src/openapi/create-document.ts';

/** The types of the API's requests and answers, for the console. */
export async function renderApiTypes(): Promise<string> {
  // It reads a document as JSON has it.
  const document = JSON.stringify(createOpenApiDocument());
  return `// Written by \`npm run console:types\` from the OpenAPI document.\n${astToString(await openapiTypescript(document, { defaultNonNullable: false }))}`;
}

/** The file that has them. */
export const API_TYPES_FILE = new URL('../../apps/console/src/api/api-types.ts', import.meta.url);
