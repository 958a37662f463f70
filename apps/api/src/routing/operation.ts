import type { ID_PATTERNS, ProblemCode } from '@herald/core';
import type { Scope } from '@herald/store/api-keys/api-key-store';
import type { Request, Response } from 'express';
import { z } from 'zod';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** One id for each `{name}` in a path. */
type IdsIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & IdsIn<Rest>
  : Request['params'];

/** An operation: its entry in the OpenAPI document, and the handler that answers it. */
export type Operation<
  Deps,
  Path extends string = string,
  Input extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> = {
  readonly id: string;
  readonly method: Method;
  /** Below the path of its table, such as `/{id}/test`, or `/` alone. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  /** The handler gets what this schema makes of the query. An operation has a query or a body. */
  readonly query?: Input;
  /** The handler gets what this schema makes of the body. A missing body counts as `{}`. */
  readonly body?: Input;
  /** The documented body of a batch. `body` leaves the items unread; the handler reads each by itself. */
  readonly batch?: z.ZodType;
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly schema: Answer;
    readonly headers?: readonly ('location' | 'cache-control')[];
    /** Absent: JSON. */
    readonly type?: 'text/event-stream';
    /** A request that prefers HTML gets the same as a page. */
    readonly isPageToo?: true;
  };
  /** Describes an answer with status 503 and the same schema. Absent: 503 is always a problem. */
  readonly unavailable?: string;
  /** Portal links may use it, although they may not use the other operations of its table. */
  readonly forPortalLinks?: true;
  /** Problem codes of this operation. Those that follow from its form are added, such as `task_not_found`. */
  readonly problems?: readonly ProblemCode[];
  /** Sends the answer. Its status is already set. */
  handle(
    deps: Deps,
    req: Request<IdsIn<Path>>,
    res: Response<z.output<Answer>>,
    input: z.output<Input>,
  ): Promise<void> | void;
};

/** The operations under one path. */
export type RouteTable<Deps> = {
  /** The group of the operations in the document. */
  readonly tag: string;
  readonly path: string;
  /**
   * The scope that an API key needs. `any`: any key of a workspace will do. `operator`: operators alone, who sign in.
   * Absent: no key is needed.
   */
  readonly scope?: Scope | 'any' | 'operator';
  /** Portal links may use all its operations, read-only ones those with GET. */
  readonly forPortalLinks?: true;
  /** The kind of thing that each id in a path names. */
  readonly ids: Readonly<Record<string, keyof typeof ID_PATTERNS>>;
  readonly operations: readonly Operation<Deps>[];
};
export type KeyedRouteTable<Deps> = RouteTable<Deps> & { readonly scope: Scope };

/** Body of an operation that takes none. */
export const NoBody = z.strictObject({});

/** Makes an operation. The compiler checks its handler against its path and schemas. */
export function operation<Deps, const Path extends string, Input extends z.ZodType, Answer extends z.ZodType>(
  id: string,
  route: `${Uppercase<Method>} ${Path}`,
  rest: Omit<Operation<Deps, Path, Input, Answer>, 'id' | 'method' | 'path'>,
): Operation<Deps> {
  const [method = '', path = ''] = route.split(' ');
  return { id, method: method.toLowerCase() as Method, path, ...rest };
}
