import { signatureHeaders, type AttemptOutcome, type SigningKey } from '@herald/core';
import type { EndpointRecord, LoadedDelivery } from '@herald/infra';

export type SendResult = {
  readonly outcome: AttemptOutcome;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly durationMs: number;
};

export type Send = (
  request: { readonly url: string; readonly headers: Record<string, string>; readonly body: Buffer },
  signal?: AbortSignal,
) => Promise<SendResult>;

export type MakeAttemptDeps = {
  readonly send: Send;
  readonly signingKeyOf: (sealed: string, endpointId: string) => SigningKey;
  readonly now: () => number;
};

/** Signs a delivery and sends it, once. Throws only for faults of our own, such as a secret that doesn't open. */
export function createMakeAttempt({ send, signingKeyOf, now }: MakeAttemptDeps) {
  return async function makeAttempt(
    { delivery, body }: LoadedDelivery,
    endpoint: EndpointRecord,
    signal?: AbortSignal,
  ): Promise<SendResult> {
    const at = now();
    const { id, sealedSecret, previousSecret } = endpoint;
    const keys = {
      current: signingKeyOf(sealedSecret, id),
      ...(previousSecret && previousSecret.until > at && { previous: signingKeyOf(previousSecret.sealed, id) }),
    };
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders({ id: delivery.id, event: delivery.event, body, now: at }, keys),
    };
    return await send({ url: endpoint.url, headers, body }, signal);
  };
}
export type MakeAttempt = ReturnType<typeof createMakeAttempt>;
