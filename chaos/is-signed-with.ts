import type { ReceivedRequest } from '@herald/test-kit';
import { createHmac } from 'node:crypto';

/** Whether every signature of a webhook is made with one of these secrets, as docs/receiving.md describes. */
export function isSignedWith({ headers, rawBody }: ReceivedRequest, secrets: readonly string[]): boolean {
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
