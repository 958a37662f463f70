import type { IdempotencyRecord, IdempotencyStore } from '@herald/store/idempotency/idempotency-store';
import type { Logger } from '@herald/runtime/log/logger';
import type { RequestHandler, Response } from 'express';
import { apiKeyOf } from '../http/caller.ts';
import { HttpFault } from '../http/problem.ts';
import { lossyBatchOf } from '../http/parse-json.ts';
import { requestIdOf } from '../http/request-id.ts';
import { bodyFingerprint } from './body-fingerprint.ts';
import { startRefresher } from './start-refresher.ts';
import { REPLAYED, toKeptAnswer } from './kept-answer.ts';
import { IDEMPOTENCY_KEY, readIdempotencyKey } from './read-idempotency-key.ts';
import { setSeed } from './seed-of.ts';

export type IdempotencyDeps = { readonly records: IdempotencyStore; readonly logger: Logger };

/** Seconds after which a caller may ask whether the first request is done. */
const RETRY_AFTER_S = 1;

/**
 * Lets a POST with an `Idempotency-Key` have its effect once. Stands behind authentication and the parsing of the body.
 * Without the header it does nothing.
 */
export function createIdempotency({ records, logger }: IdempotencyDeps): RequestHandler {
  return async (req, res, next) => {
    const idempotencyKey = req.method === 'POST' ? readIdempotencyKey(req) : undefined;
    if (idempotencyKey === undefined) {
      next();
      return;
    }
    const name = { apiKeyId: apiKeyOf(req).id, method: req.method, path: req.baseUrl + req.path, idempotencyKey };
    const fingerprint = bodyFingerprint(req.body === undefined ? {} : req.body, lossyBatchOf(req)?.text);
    const reply = await records.acquire(name, fingerprint);
    switch (reply.kind) {
      case 'conflict':
        throw new HttpFault('idempotency_conflict', `this ${IDEMPOTENCY_KEY} came with another body; use a new one`);
      case 'in_progress':
        throw new HttpFault('request_in_progress', 'the first request with this key is not answered yet; try again', {
          'retry-after': String(RETRY_AFTER_S),
        });
      case 'answered': {
        const { status, headers, body } = reply.answer;
        res.status(status).set(headers).set(REPLAYED, 'true').json(body);
        return;
      }
      case 'acquired': {
        const requestId = requestIdOf(req);
        const stopRefresher = startRefresher(reply.record, records.leaseMs, logger, requestId);
        setSeed(req, reply.record.seed);
        settleBeforeSending(res, async (json) => {
          stopRefresher();
          try {
            const ending = await settle(reply.record, res, json);
            if (ending === 'lost') logger.warn('idempotency.record_lost', { requestId });
          } catch (error) {
            // What is done is done, and its caller is told. A repeated request runs when the lease has ended, and finds it.
            logger.warn('idempotency.answer_not_kept', { requestId, status: res.statusCode }, error);
          }
        });
        next();
      }
    }
  };
}

/** Keeps an answer of success. A 4xx changed nothing, so its key is free again; what a 5xx changed, nobody knows. */
async function settle(record: IdempotencyRecord, res: Response, json: string) {
  const { statusCode } = res;
  if (statusCode < 300) return await record.keepAnswer(toKeptAnswer(res, json));
  return await record.giveBack(statusCode < 500 ? 'nothing' : 'perhaps');
}

/**
 * Every answer, a problem too, is sent by `res.send` as the text of its JSON. Also when the caller hung up: the answer is what
 * the repeated request gets.
 */
function settleBeforeSending(res: Response, settleAnswer: (json: string) => Promise<void>): void {
  const send = res.send.bind(res);
  res.send = (json: string) => {
    res.send = send;
    void settleAnswer(json).then(() => send(json));
    return res;
  };
}
