import type { IdempotencyRecord, IdempotencyStore } from '@herald/store/access/idempotency-store';
import type { Logger } from '@herald/runtime/log/logger';
import type { Request, RequestHandler, Response } from 'express';
import { HttpFault } from '../http/problem.ts';
import { callerOf, stateOf } from '../http/request-state.ts';
import { bodyFingerprint } from './body-fingerprint.ts';
import { startRefresher } from './start-refresher.ts';
import { REPLAYED, toAnswerBody, toKeptAnswer } from './kept-answer.ts';
import { IDEMPOTENCY_KEY, readIdempotencyKey } from './read-idempotency-key.ts';

export type IdempotencyDeps = { readonly records: IdempotencyStore; readonly logger: Logger };

/** Those that need it: a GET changes nothing, and what a DELETE has removed stays away. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'PATCH']);

/** When a caller may repeat a request whose first run is not answered yet, in seconds. */
const RETRY_AFTER_S = 1;

/**
 * Lets a POST or a PATCH with an `Idempotency-Key` have its effect once. Without the header it does nothing. It must come after
 * authentication and the parsing of the body.
 */
export function createIdempotency({ records, logger }: IdempotencyDeps): RequestHandler {
  return async (req, res, next) => {
    const idempotencyKey = METHODS.has(req.method) ? readIdempotencyKey(req) : undefined;
    if (idempotencyKey === undefined) {
      next();
      return;
    }
    const name = { apiKeyId: callerOf(req).by, method: req.method, path: pathOf(req), idempotencyKey };
    const state = stateOf(req);
    const fingerprint = bodyFingerprint(req.body === undefined ? {} : req.body, state.lossyBatch?.text);
    const reply = await records.acquire(name, fingerprint);
    switch (reply.kind) {
      case 'conflict':
        throw new HttpFault('idempotency_conflict', `this ${IDEMPOTENCY_KEY} came with another body; use a new one`);
      case 'in_progress':
        throw new HttpFault('request_in_progress', 'the first request with this key is not answered yet; try again', {
          'retry-after': String(RETRY_AFTER_S),
        });
      case 'answered': {
        const { status, headers } = reply.answer;
        res.status(status).set(headers).set(REPLAYED, 'true').json(toAnswerBody(reply.answer, req.body));
        return;
      }
      case 'acquired': {
        const { record } = reply;
        const { requestId = '' } = state;
        const stopRefresher = startRefresher(record, records.leaseMs, logger, requestId);
        state.seed = record.seed;
        settleBeforeSending(res, async (json) => {
          stopRefresher();
          try {
            const ending = await settle(record, res, json, req.body);
            if (ending === 'lost') logger.warn('idempotency.record_lost', { requestId });
          } catch (error) {
            // The request had its effect, so the caller gets its answer. A repeated request runs once the lease has
            // ended, and finds that effect.
            logger.warn('idempotency.answer_not_kept', { requestId, status: res.statusCode }, error);
          }
        });
        next();
      }
    }
  };
}

/** The path of the operation with the request's ids, however the caller has spelled it. */
function pathOf(req: Request): string {
  const { operationPath } = stateOf(req);
  if (operationPath === undefined) throw new Error('the request has come to no operation');
  return operationPath.replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(req.params[name]));
}

/** Keeps the answer of a success. A 4xx changed nothing, so its key is free again. A 5xx may have changed something. */
async function settle(record: IdempotencyRecord, res: Response, json: string, asked: unknown) {
  const { statusCode } = res;
  if (statusCode < 300) return await record.keepAnswer(toKeptAnswer(res, json, asked));
  return await record.giveBack(statusCode < 500 ? 'nothing' : 'perhaps');
}

/**
 * Settles the answer before `res.send` sends it. Every answer, also a problem, is sent as the text of its JSON. This
 * happens even after the caller hung up: a repeated request gets this answer.
 */
function settleBeforeSending(res: Response, settleAnswer: (json: string) => Promise<void>): void {
  const send = res.send.bind(res);
  res.send = (json: string) => {
    res.send = send;
    void settleAnswer(json).then(() => send(json));
    return res;
  };
}
