import type { Request } from 'express';
import type { Operation } from './operation.ts';

/** Finds the operation that a request is for, before the router does. The request must be at the path of the table. */
export function createFindOperation<Deps>(operations: readonly Operation<Deps>[]) {
  const known = operations.map((operation) => {
    const path = operation.path.replaceAll(/\{\w+\}/g, '[^/]+').replace(/\/$/, '');
    // Routers ignore a slash at the end.
    return { operation, pattern: new RegExp(`^${operation.method} ${path}/?$`, 'i') };
  });
  return (req: Pick<Request, 'method' | 'path'>): Operation<Deps> | undefined => {
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    return known.find(({ pattern }) => pattern.test(`${method} ${req.path}`))?.operation;
  };
}
