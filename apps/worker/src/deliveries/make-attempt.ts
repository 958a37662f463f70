import { deliveryHeaders, signatureHeaders, type Delivery, type OwnHeaders, type SigningKey } from '@herald/core';
import type { Sender, SendResult } from '@herald/egress/create-sender';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { TraceSpan, Tracing } from '@herald/runtime/tracing/create-tracing';
import { hideOwnHeaders } from './hide-own-headers.ts';

export type MakeAttemptDeps = {
  readonly send: Sender['send'];
  readonly signingKeyOf: (encrypted: string, endpointId: string) => SigningKey;
  readonly ownHeadersOf: (encrypted: string, endpointId: string) => OwnHeaders;
  /** Undefined: no traces. */
  readonly tracing: Tracing | undefined;
  /** Whether requests carry the `traceparent` header (W3C Trace Context). */
  readonly sendsTraceparent: boolean;
  readonly now: () => number;
};

export type MadeAttempt = SendResult & {
  /** Epoch ms. The request's `webhook-timestamp` is of this time. */
  readonly startedAt: number;
};

/** Signs a delivery and sends it once. Throws only on internal errors, such as a secret that can't be decrypted. */
export function createMakeAttempt(deps: MakeAttemptDeps) {
  const { send, signingKeyOf, ownHeadersOf, tracing, sendsTraceparent, now } = deps;
  return async function makeAttempt(
    { delivery, body, traceparent }: LoadedDelivery,
    endpoint: EndpointRecord,
    signal?: AbortSignal,
  ): Promise<MadeAttempt> {
    const startedAt = now();
    const { id, encryptedSecret, previousSecret, encryptedHeaders } = endpoint;
    const keys = {
      current: signingKeyOf(encryptedSecret, id),
      ...(previousSecret &&
        previousSecret.until > startedAt && { previous: signingKeyOf(previousSecret.encrypted, id) }),
    };
    const ownHeaders = encryptedHeaders === undefined ? undefined : ownHeadersOf(encryptedHeaders, id);
    const span = tracing?.startAttempt(`deliver ${delivery.event}`, traceparent, attributesOf(delivery, endpoint));
    const event = delivery.sampleOf ?? delivery.event;
    const headers = {
      ...ownHeaders,
      ...deliveryHeaders(delivery, startedAt),
      ...(sendsTraceparent && span?.traceparent !== undefined && { traceparent: span.traceparent }),
      ...signatureHeaders({ id: delivery.id, event, body, now: startedAt }, keys),
    };
    const result = await endingWith(span, send({ url: endpoint.url, headers, body }, signal));
    const outcome = ownHeaders ? hideOwnHeaders(result.outcome, ownHeaders) : result.outcome;
    return { ...result, outcome, startedAt };
  };
}
export type MakeAttempt = ReturnType<typeof createMakeAttempt>;

function attributesOf({ id, transitionId, taskId, workspaceId, tries }: Delivery, endpoint: EndpointRecord) {
  return {
    'herald.delivery_id': id,
    'herald.transition_id': transitionId,
    'herald.workspace_id': workspaceId,
    ...(taskId !== undefined && { 'herald.task_id': taskId }),
    'herald.endpoint_id': endpoint.id,
    'http.request.resend_count': tries,
    'http.request.method': 'POST',
    'server.address': new URL(endpoint.url).host,
  };
}

async function endingWith(span: TraceSpan | undefined, sending: Promise<SendResult>): Promise<SendResult> {
  if (span === undefined) return await sending;
  try {
    const result = await sending;
    const { outcome } = result;
    const status = outcome.kind === 'responded' ? outcome.status : undefined;
    span.end({
      failed: status === undefined || status < 200 || status > 299,
      attributes: {
        'herald.outcome': outcome.kind,
        ...(status !== undefined && { 'http.response.status_code': status }),
      },
    });
    return result;
  } catch (error) {
    span.end({ failed: true, attributes: { 'herald.outcome': 'internal_error' } });
    throw error;
  }
}
