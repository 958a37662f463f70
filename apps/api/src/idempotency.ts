import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { canonicalJson, ValidationError } from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import { isApiKeyText } from '@herald/store/access/api-key-store';
import type { IdempotencyRecord, IdempotencyStore, KeptAnswer } from '@herald/store/access/idempotency-store';
import type { Request, RequestHandler, Response } from 'express';
import { HttpFault } from './http/problem.ts';
import { budgetOf, callerOf, stateOf } from './http/request-state.ts';

type IdempotencyDeps = {
  readonly records: IdempotencyStore;
  readonly logger: Logger;
  /** Where no answer can be kept, the request runs as if it had no key. Default: it is refused. */
  readonly mayRunAgain?: boolean;
};

/** Those that need it: a GET changes nothing, and what a DELETE has removed stays away. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'PATCH']);

/** When a caller may repeat a request whose first run is not answered yet, in seconds. */
const RETRY_AFTER_S = 1;

/**
 * Lets a POST or a PATCH with an `Idempotency-Key` have its effect once. Without the header it does nothing. It must come after
 * authentication and the parsing of the body.
 */
export function createIdempotency({ records, logger, mayRunAgain = false }: IdempotencyDeps): RequestHandler {
  return async (req, res, next) => {
    const idempotencyKey = METHODS.has(req.method) ? readIdempotencyKey(req) : undefined;
    if (idempotencyKey === undefined) {
      next();
      return;
    }
    const { method } = req;
    const name = { owner: budgetOf(req), apiKeyId: callerOf(req).by, method, path: pathOf(req), idempotencyKey };
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
      case 'no_room':
        if (!mayRunAgain) throw reply.error;
        next();
        return;
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
  const sendSettled = (json: string): Response => {
    res.send = send;
    void settleAnswer(json).then(() => send(json));
    return res;
  };
  // Not written here: V8 keeps such a function, and all that it sees, until its next full collection.
  res.send = sendSettled;
}

/** Response header of an answer that comes from an earlier run of the same request. */
export const REPLAYED = 'idempotency-replayed';
/** Headers that belong to the answer of the operation. All others belong to one response. */
const KEPT_HEADERS = ['location', 'cache-control', 'etag'];

/**
 * The kept part of an answer. It has no signing secret: a secret is shown once, and Redis holds it encrypted. It has no
 * text, list or object that the request had: a repeated request brings it again, and what a Task holds must not outlive
 * its erasure.
 * @param asked the body of the request
 */
export function toKeptAnswer(res: Pick<Response, 'statusCode' | 'get'>, json: string, asked: unknown): KeptAnswer {
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = res.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const body = withoutSecrets(JSON.parse(json));
  const repeated = namesOfRepeats(body, asked);
  return {
    status: res.statusCode,
    headers: Object.fromEntries(headers),
    body: withFields(body, repeated, () => null),
    ...(repeated.length > 0 && { repeated }),
  };
}

/**
 * The body of a kept answer, whole.
 * @param asked the body of the repeated request, which is that of the first
 */
export function toAnswerBody({ body, repeated = [] }: KeptAnswer, asked: unknown): unknown {
  return withFields(body, repeated, (name) => (isObject(asked) ? asked[name] : null));
}

/** What an answer has under the same names as the request: texts, lists and objects. Anything else is as short as a name. */
function namesOfRepeats(body: unknown, asked: unknown): string[] {
  if (!isObject(body) || !isObject(asked)) return [];
  const isLong = (value: unknown) => typeof value === 'string' || (typeof value === 'object' && value !== null);
  return Object.keys(body).filter((name) => isLong(body[name]) && isDeepStrictEqual(body[name], asked[name]));
}

/** Sets fields where they stand, so that their order stays. */
function withFields(body: unknown, names: readonly string[], valueOf: (name: string) => unknown): unknown {
  if (!isObject(body)) return body;
  return { ...body, ...Object.fromEntries(names.map((name) => [name, valueOf(name)])) };
}

/**
 * An answer without `secret` and `callback.secret`, the two places where the API shows one, and without the token of a
 * portal link and its url, which has the token too, and without a new API key.
 */
function withoutSecrets(body: unknown): unknown {
  if (!isObject(body)) return body;
  if (typeof body.token === 'string') {
    const { token: _token, url: _url, ...link } = body;
    return link;
  }
  if (typeof body.key === 'string' && isApiKeyText(body.key)) {
    const { key: _key, ...record } = body;
    return record;
  }
  const { secret: _secret, ...shown } = body;
  if (!isObject(shown.callback)) return shown;
  const { secret: _callbackSecret, ...callback } = shown.callback;
  return { ...shown, callback };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const IDEMPOTENCY_KEY = 'Idempotency-Key';

const PLAIN_KEY = /^[\x21-\x7e]{1,255}$/;
/** A String of RFC 9651 section 3.3.3, as draft-ietf-httpapi-idempotency-key-header asks for. */
const QUOTED_KEY = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * The request's `Idempotency-Key`. `"abc"` in quotes, as the IETF draft writes it, is the same key as plain `abc`.
 * @throws ValidationError when it is given twice, or is not 1 to 255 visible ASCII characters
 */
export function readIdempotencyKey(req: Pick<IncomingMessage, 'headers' | 'headersDistinct'>): string | undefined {
  // Node joins the values of a repeated header. It makes the list of all values on demand.
  if (req.headers['idempotency-key'] === undefined) return undefined;
  const [text = '', ...more] = req.headersDistinct['idempotency-key'] ?? [];
  if (more.length > 0) throw invalid('must be given once');
  const key = text.startsWith('"') ? QUOTED_KEY.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : text;
  if (key === undefined || !PLAIN_KEY.test(key)) {
    throw invalid('must be 1 to 255 visible ASCII characters without spaces, plain or in double quotes');
  }
  return key;
}

function invalid(message: string): ValidationError {
  return new ValidationError([{ path: IDEMPOTENCY_KEY, message }]);
}

/** The levels of a batch, and the 64 of each of its items. */
const DEPTH_LIMIT = 66;

/**
 * A digest that is the same for bodies with the same meaning. A client that repeats a request may serialise it anew,
 * with other white space or another order of keys. Values that are nested too deep for any operation are ignored.
 * @param lossyText the body as it came, if parsing changed numbers in it; then only the same text has the same digest
 */
export function bodyFingerprint(body: unknown, lossyText?: string): string {
  return hash('sha256', lossyText ?? canonicalJson(body, DEPTH_LIMIT), 'base64url');
}

/** Renews the lease of a record while its request runs, so that no second run starts. Returns its stop function. */
export function startRefresher(
  record: IdempotencyRecord,
  leaseMs: number,
  logger: Logger,
  requestId: string,
): () => void {
  const timer = setInterval(() => {
    record.renew().then(
      (reply) => {
        if (reply === 'lost') logger.warn('idempotency.record_lost', { requestId });
      },
      (error: unknown) => {
        logger.warn('idempotency.renewal_failed', { requestId }, error);
      },
    );
  }, leaseMs / 3);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
