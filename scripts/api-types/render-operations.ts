import type { OpenApiDocument } from '../../apps/api/src/documents/create-document.ts';
import { callerOf, operationsOf, type OperationAt } from './client-document.ts';

/** The operations of the client package, by their ids: for the compiler, and where each is. */
export function renderOperations(document: OpenApiDocument): string {
  const all = operationsOf(document);
  const schemas = JSON.parse(JSON.stringify(document.components?.schemas ?? {})) as Schemas;
  const of = (caller: string) => all.filter(({ operation }) => callerOf(operation) === caller);
  return `// Written by \`npm run api:types\` from the OpenAPI document.
import type { Operation, Route } from './operation.ts';

/** What the API key of a workspace, or the token of a portal link, is for. */
export interface TenantOperations {
${of('tenant').map(renderType).join('\n')}
}

/** What an executor key is for. */
export interface ExecutorOperations {
${of('executor').map(renderType).join('\n')}
}

/** What a platform key is for. */
export interface PlatformOperations {
${of('platform').map(renderType).join('\n')}
}

export const TENANT_ROUTES: Readonly<Record<keyof TenantOperations, Route>> = {
${of('tenant')
  .map((each) => renderRoute(each, schemas))
  .join('\n')}
};

export const EXECUTOR_ROUTES: Readonly<Record<keyof ExecutorOperations, Route>> = {
${of('executor')
  .map((each) => renderRoute(each, schemas))
  .join('\n')}
};

export const PLATFORM_ROUTES: Readonly<Record<keyof PlatformOperations, Route>> = {
${of('platform')
  .map((each) => renderRoute(each, schemas))
  .join('\n')}
};
`;
}

function renderType({ path, method, operation }: OperationAt): string {
  const { operationId, summary, description } = operation;
  const text = [`${summary}: \`${method.toUpperCase()} ${path}\`.`, ...(description?.split('\n') ?? [])];
  const comment = text
    .map((line) => `   * ${line}`.trimEnd())
    .join('\n   *\n')
    .replaceAll(/(\n {3}\*){2,}\n/g, '\n   *\n');
  return `  /**\n${comment}\n   */\n  readonly ${operationId}: Operation<'${operationId}'>;`;
}

function renderRoute({ path, method, operation }: OperationAt, schemas: Schemas): string {
  const { operationId, parameters = [] } = operation;
  const isPaged = parameters.some((each) => each.in === 'query' && each.name === 'cursor');
  const items = isPaged ? `, items: '${itemsOf(operation, schemas)}'` : '';
  return `  ${operationId}: { method: '${method}', path: '${path}'${items} },`;
}

type Schema = { readonly $ref?: string; readonly type?: unknown; readonly properties?: Schemas };
type Schemas = Readonly<Record<string, Schema>>;

/** The name of the one list on a page. */
function itemsOf({ operationId, responses }: OperationAt['operation'], schemas: Schemas): string {
  const content = responses['200']?.content as Readonly<Record<string, { readonly schema?: Schema }>> | undefined;
  const schema = content?.['application/json']?.schema;
  const page = schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const lists = Object.entries(page?.properties ?? {}).filter(([, { type }]) => type === 'array');
  const [name] = lists[0] ?? [];
  if (name === undefined || lists.length > 1) throw new Error(`a page of ${operationId} must have one list`);
  return name;
}
