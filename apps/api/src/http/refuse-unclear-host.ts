import type { RequestHandler } from 'express';
import { HttpFault } from './http-fault.ts';

/** RFC 9112 section 3.2: a request in HTTP/1.1 names its host once. Somebody on its way might go by another one than we do. */
export const refuseUnclearHost: RequestHandler = (req, _res, next) => {
  let count = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    if (req.rawHeaders[index]?.length === 4 && req.rawHeaders[index]?.toLowerCase() === 'host') count++;
  }
  if (count > 1 || (count === 0 && req.httpVersion === '1.1')) {
    throw new HttpFault('malformed_request', 'send the header Host, once', { connection: 'close' });
  }
  next();
};
