import type { ServerResponse } from 'node:http';
import { readNodeBody, type NodeRequest } from './read-node-body.ts';
import { receiveDelivery } from './receive-delivery.ts';
import { checkOptions, type ReceiverOptions } from './receiver-options.ts';

export type ExpressHandler = (req: NodeRequest, res: ServerResponse) => Promise<void>;

/**
 * A handler for `app.post('/hooks/herald', …)` of Express 4 and 5, and for `http.createServer(…)`. It reads the raw
 * body itself, so it must come before any body parser.
 * @throws TypeError for options that can't work
 */
export function createExpressHandler(options: ReceiverOptions): ExpressHandler {
  const checked = checkOptions(options);
  return async (req, res) => {
    const { status, headers, body } = await receiveDelivery(checked, {
      method: req.method ?? '',
      path: req.originalUrl ?? req.url ?? '',
      headers: req.headers,
      readBody: (limitBytes) => readNodeBody(req, limitBytes),
    });
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}
