import type { Claim } from './delivery-store.ts';
import { checkOptions, printError, type ReceiverOptions, type ReceiverRefusal } from './receiver-options.ts';
import { checkSecrets, readHeader, type WebhookHeaders } from './signatures.ts';
import { describeRefusal, judgeHeaders, verifyDelivery, type VerifiedDelivery } from './verify-delivery.ts';

export type IncomingDelivery = {
  readonly method: string;
  readonly path: string;
  readonly headers: WebhookHeaders;
  /** Ends with `body_too_slow` when the signal does, and keeps nothing then. */
  readBody(limitBytes: number, signal: AbortSignal): Promise<Uint8Array | BodyFault>;
};

/** The answer to a request. Herald's delivery log shows the first 1 KiB of its body. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
};

/** Why a body could not be read. */
export type BodyFault = keyof typeof BODY_FAULTS;

const BODY_FAULTS = {
  body_too_large: { status: 413, detail: 'the body is longer than the receiver takes' },
  body_too_slow: { status: 408, detail: 'the body had not come when the time for an answer was over' },
  body_incomplete: { status: 400, detail: 'the body ended early' },
  body_already_read: {
    status: 500,
    detail:
      'the body was read or decoded before the webhook handler saw it, so its signature can no longer be checked: mount the handler before express.json() and every other body parser, or give its route express.raw({ type: "*/*" })',
  },
};

/**
 * Creates what answers requests, whatever server they come to. It never rejects, and answers within the limit: an
 * internal error is reported and answered with 500, and Herald tries again.
 * @throws TypeError for options that can't work
 */
export function createReceive(given: ReceiverOptions) {
  const options = checkOptions(given);
  const { limitMs, signatures, toleranceS } = options;
  /** What `handle` is busy with, also after the answer, and whatever the store has forgotten by then. */
  const running = new Set<string>();

  const report = (error: unknown): void => {
    void callSafely(
      () => options.onError(error),
      (second) => {
        printError(error);
        printError(second);
      },
    );
  };
  const tell = (
    { headers, path }: IncomingDelivery,
    { reason, detail, status }: Pick<ReceiverRefusal, 'reason' | 'detail' | 'status'>,
  ): Answer => {
    const deliveryId = readHeader(headers, 'x-service-delivery') ?? readHeader(headers, 'webhook-id');
    const refusal = { reason, detail, status, path, ...(deliveryId !== undefined && { deliveryId }) };
    void callSafely(() => options.onRefused(refusal), report);
    return fail(status, reason, detail);
  };
  const refuseBody = (request: IncomingDelivery, fault: BodyFault): Answer => {
    const { status, detail } = BODY_FAULTS[fault];
    if (fault === 'body_already_read') {
      report(new Error(detail));
      return fail(status, fault, detail);
    }
    const answer = tell(request, { reason: fault, detail, status });
    // The rest of the body stays unread, so the connection can't be reused.
    return fault === 'body_incomplete' ? answer : { ...answer, headers: { connection: 'close' } };
  };
  const tooSlow = (what: 'secrets' | 'store' | 'handle'): Answer => {
    const detail = `${what} took longer than ${limitMs} ms`;
    report(new Error(`${detail}: a webhook was answered 503`));
    return fail(503, `${what}_too_slow`, detail);
  };

  const judgeAndHandle = async (request: IncomingDelivery, { signal, race }: Limit): Promise<Answer> => {
    const { method, headers, path } = request;
    if (method !== 'POST') return fail(405, 'method_not_allowed', 'webhooks are sent with POST', { allow: 'POST' });
    // What its headers refuse is not read: nobody fills the memory with bodies that can't be genuine.
    const early = judgeHeaders(headers, signatures, { toleranceS, nowMs: options.now() });
    if (early !== undefined) return tell(request, { reason: early, detail: describeRefusal(early), status: 401 });
    const found = await race(options.findSecrets({ path }));
    if (found === LATE) return tooSlow('secrets');
    const secrets = checkSecrets(found);
    const rawBody = secrets.length === 0 ? new Uint8Array() : await request.readBody(options.limitBytes, signal);
    if (typeof rawBody === 'string') return refuseBody(request, rawBody);
    const verified = verifyDelivery({ headers, rawBody, secrets, signatures, toleranceS, nowMs: options.now() });
    return verified.kind === 'refused' ? tell(request, verified) : handleOnce(verified, { signal, race });
  };

  /** Only a processed delivery is answered with 2xx. After any other answer, or none, Herald tries again. */
  const handleOnce = async (delivery: Genuine, { signal, race }: Omit<Limit, 'end'>): Promise<Answer> => {
    // Without Retry-After: with it Herald would pause all deliveries to this host.
    const inProgress = fail(409, 'in_progress', 'this delivery is being processed right now');
    if (running.has(delivery.id)) return inProgress;
    const claiming = options.store.claim(delivery.id);
    const claim = await race(claiming);
    if (claim === LATE) {
      // It may be granted yet, and would keep the next try from the delivery until it ended by itself.
      void claiming.then((late) => (late.kind === 'claimed' ? late.release() : undefined)).catch(report);
      return tooSlow('store');
    }
    if (claim.kind === 'done') return succeed('duplicate');
    // A store that is slow may have given it to two.
    if (claim.kind === 'in_progress' || running.has(delivery.id)) return inProgress;
    const { handled, settled } = startHandling(delivery, claim, signal);
    const isProcessed = await race(handled);
    if (isProcessed === LATE) return tooSlow('handle');
    await race(settled); // processed is processed, also when the store can't take it down
    return isProcessed ? succeed('processed') : FAILED;
  };

  /** The claim is held as long as `handle` runs, be it for ever: nothing else may call it for this delivery. */
  const startHandling = ({ event, id }: Genuine, claim: Claimed, signal: AbortSignal) => {
    running.add(id);
    const stopRenewing = keepRenewing(claim, report);
    let isProcessed = false;
    const handled = callSafely(async () => {
      await options.handle(event, { id, signal });
      isProcessed = true;
    }, report).then(() => isProcessed);
    const settled = handled.then(async () => {
      stopRenewing();
      // Of a failed one, the next try need not wait until the claim ends by itself.
      await callSafely(() => (isProcessed ? claim.complete() : claim.release()), report);
      running.delete(id);
    });
    return { handled, settled };
  };

  async function receive(request: IncomingDelivery): Promise<Answer> {
    const limit = startLimit(limitMs);
    try {
      return await judgeAndHandle(request, limit);
    } catch (error) {
      report(error);
      return FAILED;
    } finally {
      limit.end();
    }
  }
  return { receive, report };
}

type Genuine = Extract<VerifiedDelivery, { kind: 'genuine' }>;
type Claimed = Extract<Claim, { kind: 'claimed' }>;

const FAILED = fail(500, 'receiver_failed', 'the receiver could not process this; its log says why');

function fail(status: number, error: string, detail: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers, body: { error, detail } };
}

function succeed(status: 'processed' | 'duplicate'): Answer {
  return { status: 200, headers: {}, body: { status } };
}

/** Calls what others wrote. It may throw or reject, now or later: that is told, and never rejects here. */
async function callSafely(callback: () => unknown, onFailure: (error: unknown) => void): Promise<void> {
  try {
    await callback();
  } catch (error) {
    onFailure(error);
  }
}

function keepRenewing({ renewal }: Claimed, report: (error: unknown) => void): () => void {
  if (!renewal) return () => undefined;
  const timer = setInterval(() => void callSafely(() => renewal.renew(), report), renewal.everyMs);
  // No reason to live on for a process that has nothing else to do. A number where the runtime isn't Node.
  if (typeof timer === 'object') timer.unref();
  return () => {
    clearInterval(timer);
  };
}

const LATE = Symbol('late');

type Limit = {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** What it comes to, or `LATE` when the time is over before. */
  readonly race: <T>(value: T | Promise<T>) => Promise<T | typeof LATE>;
  readonly end: () => void;
};

function startLimit(ms: number): Limit {
  const controller = new AbortController();
  const late = new Promise<typeof LATE>((resolve) => {
    controller.signal.addEventListener('abort', () => {
      resolve(LATE);
    });
  });
  const timer = setTimeout(() => {
    controller.abort(new Error(`the limit of ${ms} ms is over`));
  }, ms);
  return {
    signal: controller.signal,
    race: (value) => Promise.race([value, late]),
    end: () => {
      clearTimeout(timer);
    },
  };
}
