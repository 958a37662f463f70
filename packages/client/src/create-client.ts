import {
  EXECUTOR_ROUTES,
  PLATFORM_ROUTES,
  TENANT_ROUTES,
  type ExecutorOperations,
  type PlatformOperations,
  type TenantOperations,
} from './api/operations.ts';
import type { Route } from './api/operation.ts';
import { createCall, createPages, type CallInput, type ClientOptions } from './call.ts';

export type TenantClient = TenantOperations;
export type ExecutorClient = ExecutorOperations;
export type PlatformClient = PlatformOperations;

/** What a workspace does, with its API key, or people do with the token of a portal link. */
export function createTenantClient(options: ClientOptions): TenantClient {
  return createOperations(TENANT_ROUTES, options) as TenantOperations;
}

/** What an executor does, with its key. `createReporter` reports many transitions. */
export function createExecutorClient(options: ClientOptions): ExecutorClient {
  return createOperations(EXECUTOR_ROUTES, options) as ExecutorOperations;
}

/** What the platform does for its workspaces, with a platform key. */
export function createPlatformClient(options: ClientOptions): PlatformClient {
  return createOperations(PLATFORM_ROUTES, options) as PlatformOperations;
}

function createOperations(routes: Readonly<Record<string, Route>>, options: ClientOptions): unknown {
  const call = createCall(options);
  const operations = Object.entries(routes).map(([id, route]) => {
    const { items } = route;
    if (items === undefined) return [id, (input?: CallInput) => call(id, route, input)];
    const readPage = (input: CallInput) => (cursor: string | undefined) => {
      const query = cursor === undefined ? input.query : { ...input.query, cursor };
      return call(id, route, { ...input, query });
    };
    return [id, (input: CallInput = {}) => createPages(items, readPage(input))];
  });
  return Object.fromEntries(operations) as unknown;
}
