import type { Scope } from '@herald/store/access/api-key-store';
import { document, type OperationObject } from '../../support/openapi-document.ts';
import { CALLS, type Call } from './operation-table.ts';
import type { Inhabited } from './scene.ts';

/** An operation of the document, and how it is called. */
export interface CalledOperation {
  id: string;
  method: string;
  path: string;
  /** What a key needs. `any`: every key of a workspace will do. Undefined: it is open, or for operators. */
  scope: Scope | 'any' | undefined;
  /** It answers with a stream, which doesn't end. */
  isStream: boolean;
  call: Call;
}

export const OPERATIONS: readonly CalledOperation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    scope: scopeOf(operation),
    isStream: JSON.stringify(operation.responses).includes('"text/event-stream"'),
    call: CALLS[operation.operationId] ?? { params: [] },
  })),
);

function scopeOf({ security = [] }: OperationObject): CalledOperation['scope'] {
  const scopes = security[0]?.apiKey;
  return scopes && ((scopes[0] ?? 'any') as Scope | 'any');
}

/** The path of an operation with ids in their places. */
export function fillPath({ path }: Pick<CalledOperation, 'path'>, ids: readonly string[]): string {
  const left = [...ids];
  return path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ''));
}

/** Its ids of the things of a workspace. */
export function idsOf({ call }: Pick<CalledOperation, 'call'>, { ids }: Inhabited): string[] {
  return call.params.map((kind) => ids[kind]);
}
