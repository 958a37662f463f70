import { verify, verifyStandard } from '@herald/receiver';
import type { ReceivedRequest } from '@herald/test-kit';

/** The problems of a webhook that claims to be from Herald; none when a receiver may trust it. */
export function judgeRequest({ headers, rawBody }: ReceivedRequest, secret: string): string[] {
  const problems: string[] = [];
  if (!verify(rawBody, headers, secret)) problems.push('x-service-signature is wrong');
  if (!verifyStandard(rawBody, headers, secret)) problems.push('webhook-signature is wrong or too old');
  if (headers['webhook-id'] !== headers['x-service-delivery']) problems.push('webhook-id is not the delivery id');
  return problems;
}
