import { createOpenApiDocument } from '../../apps/api/src/openapi/create-document.ts';
import { clientDocument } from './client-document.ts';
import { renderApiTypes } from './render-api-types.ts';
import { renderOperations } from './render-operations.ts';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);

/** The files that are made of the OpenAPI document, and how. The client's part of it is smaller than the console's. */
export const GENERATED_FILES: readonly { readonly file: URL; readonly render: () => Promise<string> | string }[] = [
  { file: at('apps/console/src/api/api-types.ts'), render: () => renderApiTypes(createOpenApiDocument()) },
  {
    file: at('packages/client/src/api/api-types.ts'),
    render: () => renderApiTypes(clientDocument(createOpenApiDocument())),
  },
  { file: at('packages/client/src/api/operations.ts'), render: () => renderOperations(createOpenApiDocument()) },
];
