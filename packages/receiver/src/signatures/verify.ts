import { isEqual } from './is-equal.ts';
import { serviceSignature } from './make-signatures.ts';
import { bytesOf, type RawBody } from './raw-body.ts';
import { readHeader, type WebhookHeaders } from './read-header.ts';
import { usableSecrets, type Secrets } from './secrets.ts';

/**
 * Whether `x-service-signature` was made over this body with one of the secrets: `sha256=` + lowercase hex HMAC-SHA256
 * of the raw body, keyed by the secret's UTF-8 bytes, compared in constant time. False when the header is missing or of
 * another length. Never throws: the result is false for anything that can't be verified.
 *
 * It proves the origin of the body. It doesn't cover the time, nor `x-service-delivery`: an attacker who has seen a
 * request could send it again under another id. `verifyStandard` closes that gap. Make both checks, as the handlers do.
 */
export function verify(rawBody: RawBody, headers: WebhookHeaders, secrets: Secrets): boolean {
  const body = bytesOf(rawBody);
  const signature = readHeader(headers, 'x-service-signature');
  if (body === undefined || signature === undefined) return false;
  // All secrets are tried, so that the duration doesn't reveal which one is in use.
  const matches = usableSecrets(secrets).map((secret) => isEqual(signature, serviceSignature(body, secret)));
  return matches.includes(true);
}
