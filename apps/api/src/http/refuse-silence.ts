import { UnavailableError } from '@herald/core';
import type { RequestHandler } from 'express';

/** Answers 503 at once while Redis is known to give no answer: waiting would only fill this process with requests. */
export function createSilenceRefusal(isSilent: () => boolean): RequestHandler {
  return (_req, _res, next) => {
    if (isSilent()) throw new UnavailableError('the data can not be reached for a moment; try again');
    next();
  };
}
