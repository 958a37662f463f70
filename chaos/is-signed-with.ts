import type { ReceivedRequest } from '@herald/test-kit';
import { createHmac } from 'node:crypto';

/** Whether both signatures of a webhook are made with this secret, as the README describes them. */
export function isSignedWith({ headers, rawBody }: ReceivedRequest, secret: string): boolean {
  const service = createHmac('sha256', secret).update(rawBody).digest('hex');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const standard = createHmac('sha256', key)
    .update(`${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.`)
    .update(rawBody)
    .digest('base64');
  return headers['x-service-signature'] === `sha256=${service}` && headers['webhook-signature'] === `v1,${standard}`;
}
