import type { ReceivedRequest, Receiver } from '@herald/test-kit';

/** A webhook body, as far as tests look into it. */
export interface WebhookBody {
  id: string;
  event: string;
  created_at: string;
  sequence: number;
  task: { id: string; status: string };
  [field: string]: unknown;
}

export interface Webhook {
  event: string;
  deliveryId: string;
  body: WebhookBody;
  request: ReceivedRequest;
}

export function readWebhook(request: ReceivedRequest): Webhook {
  return {
    event: request.headers['x-service-event'] ?? '',
    deliveryId: request.headers['x-service-delivery'] ?? '',
    body: JSON.parse(request.rawBody.toString()) as WebhookBody,
    request,
  };
}

/** What a receiver has got so far. */
export function webhooksAt({ requests }: Pick<Receiver, 'requests'>): Webhook[] {
  return requests.map(readWebhook);
}

/** `<task id> <event>` of all that a receiver has got so far, sorted: deliveries come in any order. */
export function factsAt(receiver: Pick<Receiver, 'requests'>): string[] {
  return webhooksAt(receiver)
    .map(({ event, body }) => `${body.task.id} ${event}`)
    .sort();
}
