import { signatureHeaders, type AttemptOutcome } from '@herald/core';
import type { EndpointRecord, LoadedDelivery, SecretBox } from '@herald/infra';

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
  readonly openSecret: SecretBox['open'];
  readonly now: () => number;
};

/** Signs a delivery and sends it, once. Throws only for faults of our own, such as a secret that doesn't open. */
export function createMakeAttempt({ send, openSecret, now }: MakeAttemptDeps) {
  return async function makeAttempt(
    { delivery, body }: LoadedDelivery,
    endpoint: EndpointRecord,
    signal?: AbortSignal,
  ): Promise<SendResult> {
    const secrets = { current: openSecret(endpoint.sealedSecret, endpoint.id) };
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders({ id: delivery.id, event: delivery.event, body, now: now() }, secrets),
    };
    return await send({ url: endpoint.url, headers, body }, signal);
  };
}
export type MakeAttempt = ReturnType<typeof createMakeAttempt>;
