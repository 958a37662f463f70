import type { OpenApiDocument } from '../../apps/api/src/documents/create-document.ts';

/** What the OpenAPI document says of an operation, as far as it is used here. */
export type DocumentedOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
};
type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;

export type OperationAt = { readonly path: string; readonly method: string; readonly operation: DocumentedOperation };

/** Who calls an operation: a workspace (with its key or a portal link), an executor or a platform. Absent: no client does. */
export function callerOf({ security, responses }: DocumentedOperation): 'tenant' | 'executor' | 'platform' | undefined {
  // A stream has no answer to wait for.
  const isAnswered = Object.entries(responses).some(
    ([status, { content = {} }]) => status.startsWith('2') && 'application/json' in content,
  );
  if (!isAnswered) return undefined;
  const scopes = security.find(({ apiKey }) => apiKey !== undefined)?.apiKey;
  if (scopes?.includes('platform')) return 'platform';
  if (scopes) return scopes.includes('execute') ? 'executor' : 'tenant';
  return security.some(({ portalLink }) => portalLink !== undefined) ? 'tenant' : undefined;
}

export function operationsOf(document: OpenApiDocument): OperationAt[] {
  return Object.entries(document.paths as Paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** The part of the document that is for clients: not what operators and health checks use, not the webhooks. */
export function clientDocument({ webhooks: _webhooks, ...document }: OpenApiDocument): OpenApiDocument {
  const isForClients = (byMethod: object) =>
    Object.values(byMethod as Paths[string]).some((operation) => callerOf(operation) !== undefined);
  const paths = Object.fromEntries(
    Object.entries(document.paths ?? {}).filter(([, byMethod]) => isForClients(byMethod)),
  );
  return { ...document, paths, components: componentsOf(paths, document.components ?? {}) };
}

const REFERENCE = /"#\/components\/(\w+)\/([^"]+)"/g;

/** The components that paths refer to, also those that components refer to. */
function componentsOf(paths: object, components: object): NonNullable<OpenApiDocument['components']> {
  const all = JSON.parse(JSON.stringify(components)) as Record<string, Record<string, unknown>>;
  const kept: Record<string, Record<string, unknown>> = {};
  const texts = [JSON.stringify(paths)];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    for (const [, kind = '', name = ''] of text.matchAll(REFERENCE)) {
      const group = (kept[kind] ??= {});
      if (name in group) continue;
      group[name] = all[kind]?.[name];
      texts.push(JSON.stringify(group[name]));
    }
  }
  return kept;
}
