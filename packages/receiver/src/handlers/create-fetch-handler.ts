import { readFetchBody } from './read-fetch-body.ts';
import { receiveDelivery } from './receive-delivery.ts';
import { checkOptions, type ReceiverOptions } from './receiver-options.ts';

export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A handler for servers with fetch's `Request` and `Response`: Hono, Next.js route handlers, Remix and others, on Node.
 * @throws TypeError for options that can't work
 */
export function createFetchHandler(options: ReceiverOptions): FetchHandler {
  const checked = checkOptions(options);
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, body } = await receiveDelivery(checked, {
      method: request.method,
      path: pathname + search,
      headers: request.headers,
      readBody: (limitBytes) => readFetchBody(request, limitBytes),
    });
    return Response.json(body, { status, headers: { ...headers } });
  };
}
