import type { RequestHandler } from 'express';

/** Our answers carry no validators, so no request about them is conditional: Express would answer `If-None-Match: *` with a 304. */
export const ignoreConditions: RequestHandler = (req, _res, next) => {
  delete req.headers['if-none-match'];
  delete req.headers['if-modified-since'];
  next();
};
