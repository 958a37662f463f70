import type { RequestHandler } from 'express';
import { apiKeyOf } from '../http/caller.ts';
import { HttpFault } from '../http/problem.ts';
import { BODY_LIMIT_BYTES } from '../http/parse-json.ts';

/**
 * Bounds what the bodies of one API key's unfinished requests may take in this process. The rate limit alone would let a key begin thousands of large
 * bodies and send each as slowly as the time limit allows. Stands behind the authentication, and before a body is read.
 */
export function createBodyLimit(limitBytes: number): RequestHandler {
  const taken = new Map<string, number>();
  return (req, res, next) => {
    const announced = req.get('content-length');
    const isChunked = req.get('transfer-encoding') !== undefined;
    // A larger one is refused unread; chunks don't say how many come.
    const bytes = isChunked ? BODY_LIMIT_BYTES : Math.min(Number(announced ?? 0), BODY_LIMIT_BYTES);
    if (bytes === 0) {
      next();
      return;
    }
    const { id } = apiKeyOf(req);
    const before = taken.get(id) ?? 0;
    if (before + bytes > limitBytes) {
      const detail = 'this API key has too many large requests under way; wait until some are answered';
      throw new HttpFault('rate_limited', detail, { 'retry-after': '1' });
    }
    taken.set(id, before + bytes);
    res.once('close', () => {
      const rest = (taken.get(id) ?? 0) - bytes;
      if (rest > 0) taken.set(id, rest);
      else taken.delete(id);
    });
    next();
  };
}
