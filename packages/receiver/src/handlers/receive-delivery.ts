import { EventFormatError } from '../events/event-format-error.ts';
import type { HeraldEvent } from '../events/event.ts';
import { parseEvent } from '../events/parse-event.ts';
import { judgeDelivery } from '../signatures/judge-delivery.ts';
import { readHeader, type WebhookHeaders } from '../signatures/read-header.ts';
import { checkSecrets } from '../signatures/secrets.ts';
import { ALREADY_READ, fail, refuse, refuseBody, succeed, type Answer, type BodyFault } from './answer.ts';
import type { CheckedOptions } from './receiver-options.ts';
import type { ReceiverRefusal } from './receiver-refusal.ts';

export type IncomingDelivery = {
  readonly method: string;
  readonly path: string;
  readonly headers: WebhookHeaders;
  readBody(limitBytes: number): Promise<Uint8Array | BodyFault>;
};

/** Returns the answer. Never rejects: an internal error is reported and answered with 500, and Herald tries again. */
export async function receiveDelivery(options: CheckedOptions, request: IncomingDelivery): Promise<Answer> {
  try {
    return await judgeAndHandle(options, request);
  } catch (error) {
    options.onError(error);
    return fail(500, 'receiver_failed', 'the receiver could not process this; its log says why');
  }
}

async function judgeAndHandle(options: CheckedOptions, request: IncomingDelivery): Promise<Answer> {
  const { headers, path } = request;
  if (request.method !== 'POST')
    return fail(405, 'method_not_allowed', 'webhooks are sent with POST', { allow: 'POST' });
  const rawBody = await request.readBody(options.limitBytes);
  if (rawBody === 'body_already_read') {
    options.onError(new Error(ALREADY_READ));
    return refuseBody(rawBody);
  }
  if (typeof rawBody === 'string') return tell(options, request, rawBody, refuseBody(rawBody));

  const secrets = checkSecrets(await options.findSecrets({ path }));
  const judgement = judgeDelivery(
    { rawBody, headers, secrets, mode: options.signatures },
    { toleranceS: options.toleranceS, nowMs: options.now() },
  );
  if (judgement.kind === 'refused') return tell(options, request, judgement.reason, refuse(judgement.reason));

  const event = readEvent(rawBody);
  if (event instanceof EventFormatError) {
    return tell(options, request, event.code, fail(400, event.code, event.message));
  }
  return handleOnce(options, event, judgement.deliveryId);
}

/** Reports a refusal. Whatever comes of that, the answer stays. */
function tell(
  { onRefused, onError }: CheckedOptions,
  { headers, path }: IncomingDelivery,
  reason: ReceiverRefusal['reason'],
  answer: Answer,
): Answer {
  const deliveryId = readHeader(headers, 'x-service-delivery') ?? readHeader(headers, 'webhook-id');
  const facts = { reason, detail: answer.body.detail ?? '', status: answer.status, path };
  try {
    onRefused(deliveryId === undefined ? facts : { ...facts, deliveryId });
  } catch (error) {
    onError(error);
  }
  return answer;
}

function readEvent(rawBody: Uint8Array): HeraldEvent | EventFormatError {
  try {
    return parseEvent(rawBody);
  } catch (error) {
    if (error instanceof EventFormatError) return error;
    throw error;
  }
}

/** Only a processed delivery is answered with 2xx. After any other answer, or none, Herald tries again. */
async function handleOnce({ store, handle, onError }: CheckedOptions, event: HeraldEvent, id: string): Promise<Answer> {
  const claim = await store.claim(id);
  if (claim.kind === 'done') return succeed('duplicate');
  // Without Retry-After: with it Herald would pause all deliveries to this host.
  if (claim.kind === 'in_progress') return fail(409, 'in_progress', 'this delivery is being processed right now');
  try {
    await handle(event, { id });
  } catch (error) {
    await claim.release().catch(onError); // else it ends by itself
    throw error;
  }
  // Another try would surely process the delivery twice.
  await claim.complete().catch(onError);
  return succeed('processed');
}
