import type { ID_PATTERNS } from '@herald/core';
import type { Scope } from '@herald/store/api-keys/api-key-store';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ProblemCode } from '../http/problem.ts';

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
  /** The method and the path below that of the table, such as `POST /{id}/test`. */
  readonly route: `${Uppercase<Method>} ${Path}`;
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
  };
  /** Describes an answer with status 503 and the same schema. Absent: 503 is always a problem. */
  readonly unavailable?: string;
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

/** The operations under one path, with one scope. */
export type RouteTable<Deps, RequiredScope extends Scope | undefined = Scope> = {
  /** In the document. */
  readonly tag: string;
  readonly path: string;
  /** The scope that an API key needs. Undefined: no key is needed. */
  readonly scope: RequiredScope;
  /** What each id in a path is the id of. */
  readonly ids: Readonly<Record<string, keyof typeof ID_PATTERNS>>;
  readonly operations: readonly Operation<Deps>[];
};

/** Body of an operation that takes none. */
export const NoBody = z.strictObject({});

/** The parts of a route. */
export function readRoute({ route }: { readonly route: string }): { readonly method: Method; readonly path: string } {
  const [method = '', path = ''] = route.split(' ');
  return { method: method.toLowerCase() as Method, path };
}

/** Checks a handler against the schemas of its operation. */
export function operation<Deps, const Path extends string, Input extends z.ZodType, Answer extends z.ZodType>(
  checked: Operation<Deps, Path, Input, Answer>,
): Operation<Deps> {
  return checked;
}
