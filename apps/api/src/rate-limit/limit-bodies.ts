import type { RequestHandler } from 'express';
import { budgetOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';
import { BODY_LIMIT_BYTES } from '../http/parse-json.ts';

/** The bodies of one workspace's unfinished requests: 128 of the largest, or many thousands of the usual size. */
const LIMIT_BYTES = 128 * BODY_LIMIT_BYTES;

/**
 * Limits the memory that the bodies of one workspace's unfinished requests take in this process, whichever keys and links
 * they come with. Under the rate limit alone, thousands of large bodies could be started, and each be sent slowly. It must come after authentication and before
 * the body is read.
 */
export function createBodyLimit(): RequestHandler {
  const taken = new Map<string, number>();
  return (req, res, next) => {
    const announced = req.get('content-length');
    const isChunked = req.get('transfer-encoding') !== undefined;
    // A larger body is refused unread. A chunked body has no known size.
    const bytes = isChunked ? BODY_LIMIT_BYTES : Math.min(Number(announced ?? 0), BODY_LIMIT_BYTES);
    if (bytes === 0) {
      next();
      return;
    }
    const id = budgetOf(req);
    const before = taken.get(id) ?? 0;
    if (before + bytes > LIMIT_BYTES) {
      const detail = 'too many large requests of yours are under way; wait until some are answered';
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
