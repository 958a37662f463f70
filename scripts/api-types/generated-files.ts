import { createOpenApiDocument } from '../../apps/api/src/documents/create-document.ts';
import { clientDocument } from './client-document.ts';
import { renderApiTypes } from './render-api-types.ts';
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
