import { ApiAway, ApiProblem } from './api-problem.ts';
import type { paths } from './api-types.ts';

type Verb = 'get' | 'post' | 'patch' | 'delete';

/** Where there is an operation with this verb. */
type PathOf<V extends Verb> = {
  [Path in keyof paths]: paths[Path][V] extends { responses: object } ? Path : never;
}[keyof paths];

type Parameters<Operation> = Operation extends { parameters: infer All }
  ? Pick<All, keyof All & ('path' | 'query' | 'header')>
  : never;

type Body<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Json } } }
  ? { readonly body: Json }
  : Operation extends { requestBody?: { content: { 'application/json': infer Json } } }
    ? { readonly body?: Json }
    : { readonly body?: never };

/** Whether a call may leave it out: nothing of it has to be there. */
type IsOptional<Given> = { readonly [Each in keyof Given]?: never } extends Given ? true : false;

/** What a call sends. */
type Input<Operation> = Body<Operation> & { readonly signal?: AbortSignal } & (IsOptional<
    Parameters<Operation>
  > extends true
    ? { readonly params?: Parameters<Operation> }
    : { readonly params: Parameters<Operation> });

type Success<Operation> = Operation extends { responses: infer All } ? All[keyof All & (200 | 201 | 202)] : never;

/** What it is answered with. */
type Answer<Operation> = Success<Operation> extends { content: { 'application/json': infer Json } } ? Json : never;

/** A call of an operation. @throws ApiProblem or ApiAway */
type Call<V extends Verb> = <Path extends PathOf<V>>(
  path: Path,
  ...input: IsOptional<Input<paths[Path][V]>> extends true
    ? [input?: Input<paths[Path][V]>]
    : [input: Input<paths[Path][V]>]
) => Promise<Answer<paths[Path][V]>>;

export type Api = {
  readonly GET: Call<'get'>;
  readonly POST: Call<'post'>;
  readonly PATCH: Call<'patch'>;
  readonly DELETE: Call<'delete'>;
};

export type ApiRequest = {
  readonly method: string;
  /** From the root of the origin. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | undefined;
};

type Value = string | number | boolean | undefined;
type Given = {
  readonly params?: {
    readonly path?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, Value | readonly Value[]>>;
    readonly header?: Readonly<Record<string, string>>;
  };
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};
type Params = NonNullable<Given['params']>;

/** The API, typed by its OpenAPI document. */
export function createApi(send: (request: ApiRequest) => Promise<Response>): Api {
  const callBy =
    (method: string) =>
    async (path: string, { params = {}, body, signal }: Given = {}): Promise<unknown> => {
      const request = {
        method,
        path: fillPath(path, params.path) + renderQuery(params.query),
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...params.header,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      };
      const { status, headers, text } = await readText(send(request));
      const answer = parse(text);
      if (status < 300 && answer !== undefined) return answer;
      throw new ApiProblem(status, answer, headers.get('retry-after'));
    };
  return { GET: callBy('GET'), POST: callBy('POST'), PATCH: callBy('PATCH'), DELETE: callBy('DELETE') } as Api;
}

/** @throws ApiAway when it does not come, or breaks off */
async function readText(answer: Promise<Response>) {
  try {
    const response = await answer;
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (reason) {
    throw new ApiAway(String(reason));
  }
}

/** Undefined for what is no JSON, such as the page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fillPath(path: string, values: Params['path'] = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? ''));
}

function renderQuery(query: Params['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== undefined) parameters.append(name, String(each));
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** A new `Idempotency-Key`. A page without HTTPS has no `randomUUID`. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
