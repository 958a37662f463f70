import { verify } from '@octokit/webhooks-methods';
import type { ReceivedRequest } from '@herald/test-kit';
import { Webhook } from 'standardwebhooks';

/** Which of some secrets the signatures of a request verify with, by libraries that nobody here wrote. */
export async function whoSigned({ rawBody, headers }: ReceivedRequest, secrets: readonly string[]) {
  const body = rawBody.toString();
  const service: string[] = [];
  const standard: string[] = [];
  for (const secret of secrets) {
    if (await verify(secret, body, headers['x-service-signature'] ?? '')) service.push(secret);
    if (isStandard(secret, body, headers)) standard.push(secret);
  }
  return { service, standard };
}

function isStandard(secret: string, body: string, headers: Readonly<Record<string, string>>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
