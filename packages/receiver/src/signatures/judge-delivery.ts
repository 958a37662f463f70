import type { RawBody } from './raw-body.ts';
import { readHeader, type WebhookHeaders } from './read-header.ts';
import type { Secrets } from './secrets.ts';
import { verify } from './verify.ts';
import { isFresh, isSignedByStandard, type StandardOptions } from './verify-standard.ts';

/** Which signatures must hold: `x-service-signature`, the Standard Webhooks one, or both. */
export type SignatureMode = 'both' | 'standard' | 'service';

export type Refusal =
  | 'service_signature_missing'
  | 'service_signature_wrong'
  | 'standard_headers_missing'
  | 'standard_signature_wrong'
  | 'timestamp_out_of_tolerance'
  | 'delivery_id_missing'
  | 'delivery_ids_differ';

export type Judgement =
  | { readonly kind: 'genuine'; readonly deliveryId: string }
  | { readonly kind: 'refused'; readonly reason: Refusal };

export type DeliveryToJudge = {
  readonly rawBody: RawBody;
  readonly headers: WebhookHeaders;
  readonly secrets: Secrets;
  readonly mode: SignatureMode;
};

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** Decides whether Herald sent a request, and by which id to deduplicate it: the signed id, if there is one. */
export function judgeDelivery(delivery: DeliveryToJudge, options: StandardOptions = {}): Judgement {
  const { headers, mode } = delivery;
  const reason =
    (mode === 'standard' ? undefined : refuseByService(delivery)) ??
    (mode === 'service' ? undefined : refuseByStandard(delivery, options));
  if (reason !== undefined) return { kind: 'refused', reason };
  const [plainId, signedId] = [readHeader(headers, 'x-service-delivery'), readHeader(headers, 'webhook-id')];
  if (mode === 'both' && plainId !== signedId) return { kind: 'refused', reason: 'delivery_ids_differ' };
  const deliveryId = mode === 'service' ? plainId : signedId;
  if (deliveryId === undefined || deliveryId === '') return { kind: 'refused', reason: 'delivery_id_missing' };
  return { kind: 'genuine', deliveryId };
}

function refuseByService({ rawBody, headers, secrets }: DeliveryToJudge): Refusal | undefined {
  if (readHeader(headers, 'x-service-signature') === undefined) return 'service_signature_missing';
  return verify(rawBody, headers, secrets) ? undefined : 'service_signature_wrong';
}

function refuseByStandard(delivery: DeliveryToJudge, options: StandardOptions): Refusal | undefined {
  const { rawBody, headers, secrets } = delivery;
  if (STANDARD_HEADERS.some((name) => readHeader(headers, name) === undefined)) return 'standard_headers_missing';
  if (!isSignedByStandard(rawBody, headers, secrets)) return 'standard_signature_wrong';
  return isFresh(headers, options) ? undefined : 'timestamp_out_of_tolerance';
}
