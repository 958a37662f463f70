import type { Refusal } from './judge-delivery.ts';

const ROTATION = 'while a secret is being rotated, give both, the old one until the overlap ends';

const REFUSALS: Readonly<Record<Refusal, string>> = {
  service_signature_missing: 'x-service-signature is missing',
  service_signature_wrong: `x-service-signature was made with none of the secrets, or over another body; ${ROTATION}`,
  standard_headers_missing: 'webhook-id, webhook-timestamp or webhook-signature is missing',
  standard_signature_wrong: `webhook-signature was made with none of the secrets, or over another body; ${ROTATION}`,
  timestamp_out_of_tolerance: 'webhook-timestamp is too far from now: a replay, or the clock of the receiver is wrong',
  delivery_id_missing: 'x-service-delivery is missing',
  delivery_ids_differ: 'x-service-delivery is not webhook-id',
};

/** Which check failed, in words. */
export function describeRefusal(reason: Refusal): string {
  return REFUSALS[reason];
}
