import { deliveryIdOf } from '@herald/core';
import type { ReceivedRequest } from '@herald/test-kit';
import { createHmac } from 'node:crypto';
import type { WebhookBody } from '../tests/support/webhooks.ts';
import { describeRecord, type Evidence } from './evidence.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';
import { subscriptionOf } from './subscription.ts';

export const readBody = ({ request }: Arrival) => JSON.parse(request.rawBody.toString()) as WebhookBody;

/** The secrets that may have been in force when it was signed; undefined when one of them was never shown. */
export function secretsOf(
  { request }: Arrival,
  { secret }: KnownEndpoint,
  { latestAfterMs }: Evidence,
): string[] | undefined {
  const known = secret.possible(request.receivedAt - latestAfterMs, request.receivedAt);
  const shown = known.filter((each) => each !== undefined);
  return shown.length === known.length ? shown : undefined;
}

/** The problems of an arrival. */
export function judgeArrival(
  arrival: Arrival,
  endpoint: KnownEndpoint | undefined,
  record: DeliveryRecord | undefined,
  evidence: Evidence,
): string[] {
  const { request, deliveryId, host } = arrival;
  if (!endpoint) return [`${deliveryId} came to ${request.path}, which was never registered`];
  const violations: string[] = [];
  const { receivedAt } = request;
  const decidedFrom = receivedAt - evidence.latestAfterMs;
  const body = readBody(arrival);
  const fact = evidence.facts.get(body.id);
  if (deliveryId !== deliveryIdOf(body.id, endpoint.id))
    violations.push(`${deliveryId} came to ${endpoint.id}, whose it is not`);
  if (fact && subscriptionOf(fact, endpoint) === 'none')
    violations.push(`${deliveryId} of ${fact.taskId} came to ${endpoint.id} of ${endpoint.workspaceId}`);
  if (!endpoint.host.possible(decidedFrom, receivedAt).includes(host))
    violations.push(`${deliveryId} came to host ${host}, where ${endpoint.id} was no more`);
  const isOn = [endpoint.exists, endpoint.enabled].every((states) =>
    states.possible(decidedFrom, receivedAt).includes(true),
  );
  if (!isOn) violations.push(`${deliveryId} came to ${endpoint.id} long after it was disabled or removed`);
  const secrets = secretsOf(arrival, endpoint, evidence);
  if (secrets && !isSignedWith(request, secrets))
    violations.push(`${deliveryId} came to ${endpoint.id} with a wrong signature`);
  const isAskedFor = evidence.redeliveries.some((asked) => asked.deliveryId === deliveryId);
  const afterMs = receivedAt - (record?.settledAt ?? Infinity);
  if (!isAskedFor && afterMs > evidence.latestAfterMs)
    violations.push(`${deliveryId} was sent ${afterMs} ms after it was ${describeRecord(record)}`);
  return violations;
}

/** Whether every signature of a webhook is made with one of these secrets, as docs/receiving.md describes. */
function isSignedWith({ headers, rawBody }: ReceivedRequest, secrets: readonly string[]): boolean {
  const service = (secret: string) => `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
  const standard = (secret: string) => {
    const hmac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
    hmac.update(`${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.`).update(rawBody);
    return `v1,${hmac.digest('base64')}`;
  };
  const standards = secrets.map(standard);
  return (
    secrets.some((secret) => headers['x-service-signature'] === service(secret)) &&
    (headers['webhook-signature'] ?? '').split(' ').every((signature) => standards.includes(signature))
  );
}
