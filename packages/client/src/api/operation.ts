import type { operations } from './api-types.ts';

/** How an operation is reached. */
export type Route = {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  /** It answers with pages, whose items are in the field of this name. */
  readonly items?: string;
};

type OperationId = keyof operations;

export type CallOptions = {
  /** Ends the call, also while it waits to repeat. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How long the call may take, with all its repeats. Default: that of the client. */
  readonly deadlineMs?: number;
  /**
   * Only of a POST or a PATCH. Default: a new one for each call. Give your own to repeat a call after your program has crashed.
   * `false`: none. Such a call is repeated only after 429, or if it reports facts.
   */
  readonly idempotencyKey?: string | false;
};

type Body<Id extends OperationId> = [NonNullable<operations[Id]['requestBody']>] extends [never]
  ? { readonly body?: never }
  : operations[Id] extends { requestBody: { content: { 'application/json': infer Json } } }
    ? { readonly body: Json }
    : operations[Id] extends { requestBody?: { content: { 'application/json': infer Json } } }
      ? { readonly body?: Json }
      : never;

/** What a call takes, by the place where it is sent: `path`, `query` and `body`. */
export type Input<Id extends OperationId> = Pick<operations[Id]['parameters'], 'path' | 'query'> & Body<Id>;

type Success<Responses> = Responses[keyof Responses & (200 | 201 | 202)];

/** What a call resolves with. */
export type Answer<Id extends OperationId> =
  Success<operations[Id]['responses']> extends { content: { 'application/json': infer Json } } ? Json : never;

/** The items of the one list on a page. */
type Item<Page> = { [Field in keyof Page]-?: Page[Field] extends readonly (infer Each)[] ? Each : never }[keyof Page];

/** Awaited, it is one page. Iterated, it is each item of this page and of all that follow. */
export type Paged<Page> = Promise<Page> & AsyncIterable<Item<Page>>;

type Result<Id extends OperationId> = 'nextCursor' extends keyof Answer<Id> ? Paged<Answer<Id>> : Promise<Answer<Id>>;

/** A call of an operation. @throws ProblemError, ConnectionError or DeadlineError */
export type Operation<Id extends OperationId> =
  { readonly [K in keyof Input<Id>]?: never } extends Input<Id>
    ? (input?: Input<Id> & CallOptions) => Result<Id>
    : (input: Input<Id> & CallOptions) => Result<Id>;
