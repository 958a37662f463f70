import type { ID_PATTERNS, ProblemCode } from '@herald/core';
import type { Scope } from '@herald/store/access/api-key-store';
import type { Request, Response } from 'express';
import { z } from 'zod';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** One id for each `{name}` in a path. */
type IdsIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & IdsIn<Rest>
  : Request['params'];

class SentAnswer {
  readonly isSent = true;
}
/** What a handler returns that has sent its answer by itself: a stream or a page. */
export const SENT = new SentAnswer();

/**
 * What the audit trail names as the thing that an operation changed: the `id` in its path (else the last one there), or that in its answer. `none`
 * is for the life of Tasks, which is the customers' work itself and has records of its own (ADR 37).
 */
export type AuditTarget = 'path' | 'answer' | 'none';

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
  /** `description` says what replaces it. */
  readonly deprecated?: true;
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
    readonly headers?: readonly ('location' | 'cache-control' | 'etag')[];
    /** Absent: JSON. */
    readonly type?: 'text/event-stream';
    /** A request that prefers HTML gets the same as a page. */
    readonly isPageToo?: true;
  };
  /** It obeys `If-Match`. Every other operation that is no GET refuses it. */
  readonly obeysIfMatch?: true;
  /** It does no harm again, see `mayRunAgain`. */
  readonly isHarmlessAgain?: true;
  /** Describes an answer with status 503 and the same schema. Absent: 503 is always a problem. */
  readonly unavailable?: string;
  /** Portal links may use it, although they may not use the other operations of its table. */
  readonly forPortalLinks?: true;
  /** Operators may use it without OPERATOR_WRITE, although it is no GET. */
  readonly forReaders?: true;
  /** Every operation but a GET has it. */
  readonly audit?: AuditTarget;
  /** Problem codes of this operation. Those that follow from its form are added, such as `task_not_found`. */
  readonly problems?: readonly ProblemCode[];
  /** Returns the body of the answer. Its status is already set, and headers may be added. */
  handle(
    deps: Deps,
    req: Request<IdsIn<Path>>,
    res: Response<z.output<Answer>>,
    input: z.output<Input>,
  ): Promise<z.output<Answer> | typeof SENT> | z.output<Answer> | typeof SENT;
};

export type Access = Exclude<Scope, 'approvals:any'> | 'any' | 'operator' | 'operator_link' | 'public';

/** The operations under one path. */
export type RouteTable<Deps> = {
  /** The group of the operations in the document. */
  readonly tag: string;
  readonly path: string;
  /**
   * Who may use its operations: API keys with this scope, `any` key of a workspace, operators alone, who sign in or come
   * by a link that they made (`operator_link`), or the `public`. There is no default.
   */
  readonly access: Access;
  /** Portal links may use all its operations, read-only ones those with GET. */
  readonly forPortalLinks?: true;
  /** Load balancers may add parameters. Else, those that an operation doesn't name are refused. */
  readonly ignoresQuery?: true;
  /** The kind of thing that each id in a path names. */
  readonly ids: Readonly<Record<string, keyof typeof ID_PATTERNS>>;
  readonly operations: readonly Operation<Deps>[];
};
export type KeyedRouteTable<Deps> = RouteTable<Deps> & {
  readonly access: 'webhooks' | 'tasks' | 'execute' | 'platform';
};

/**
 * Whether an operation runs for a new `Idempotency-Key` although its answer can't be kept: it sets, rotates or holds, or
 * it is an executor's, whose facts count once by themselves. Whatever creates something is refused then.
 */
export function mayRunAgain(
  { method, isHarmlessAgain }: Pick<Operation<never>, 'method' | 'isHarmlessAgain'>,
  access: Access,
): boolean {
  return method === 'patch' || access === 'execute' || isHarmlessAgain === true;
}

/** Body of an operation that takes none. */
export const NoBody = z.strictObject({});

/**
 * Makes an operation. The compiler checks its handler against its path and schemas, and that whatever is no GET says what
 * the audit trail names.
 */
export function operation<
  Deps,
  const Verb extends Uppercase<Method>,
  const Path extends string,
  Input extends z.ZodType,
  Answer extends z.ZodType,
>(
  id: string,
  route: `${Verb} ${Path}`,
  rest: Omit<Operation<Deps, Path, Input, Answer>, 'id' | 'method' | 'path'> &
    (Verb extends 'GET' ? object : { readonly audit: AuditTarget }),
): Operation<Deps> {
  const [method = '', path = ''] = route.split(' ');
  return { id, method: method.toLowerCase() as Method, path, ...rest };
}

/** Whether portal links may use an operation of a table. */
export function isForPortalLinks(
  operation: Pick<Operation<never>, 'forPortalLinks'>,
  table: Pick<RouteTable<never>, 'forPortalLinks'>,
): boolean {
  return table.forPortalLinks === true || operation.forPortalLinks === true;
}
