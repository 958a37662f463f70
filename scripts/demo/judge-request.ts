import type { ReceivedRequest } from '@herald/test-kit';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What is wrong with a webhook that claims to be from Herald; empty when a receiver may trust it. */
export function judgeRequest({ headers, rawBody }: ReceivedRequest, secret: string): string[] {
  const problems: string[] = [];
  if (!isSigned(rawBody, headers['x-service-signature'], secret)) problems.push('x-service-signature is wrong');
  try {
    new Webhook(secret).verify(rawBody, headers);
  } catch (error) {
    problems.push(`webhook-signature: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (headers['webhook-id'] !== headers['x-service-delivery']) problems.push('webhook-id is not the delivery id');
  return problems;
}

/** Section 6 of the specification: constant-time, and false when the header is missing or of another length. */
function isSigned(rawBody: Buffer, signature: string | undefined, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`);
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
