import type { ReceivedRequest } from '@herald/test-kit';
import { document, findSchemaBreaches, pointerTo, resolve } from './openapi-document.ts';

/** In what a received webhook departs from the document's `webhooks`; empty: in nothing. */
export function findWebhookBreaches({ method, headers, rawBody }: ReceivedRequest): string[] {
  const event = headers['x-service-event'] ?? '';
  const operation = document.webhooks[event]?.[method.toLowerCase()];
  if (!operation) return [`no ${method} of ${event || 'no event'} is documented`];
  const at = pointerTo('webhooks', event, method.toLowerCase());
  const ofHeaders = (operation.parameters ?? []).flatMap((parameter, index) => {
    const { item, pointer } = resolve(parameter, `${at}/parameters/${index}`);
    const value = headers[item.name];
    if (value === undefined) return item.required === true ? [`the header ${item.name} is missing`] : [];
    return findSchemaBreaches(`${pointer}/schema`, value).map((breach) => `the header ${item.name}: ${breach}`);
  });
  const schema = `${at}${pointerTo('requestBody', 'content', 'application/json', 'schema')}`;
  return [...ofHeaders, ...findSchemaBreaches(schema, JSON.parse(rawBody.toString()))];
}

/** @throws when a received webhook is not as documented */
export function assertWebhook(request: ReceivedRequest): void {
  const breaches = findWebhookBreaches(request);
  if (breaches.length === 0) return;
  throw new Error(`a webhook is not as documented: ${breaches.join('; ')}\n${request.rawBody.toString()}`);
}
