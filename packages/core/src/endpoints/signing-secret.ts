import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** A signing secret as it is shown once: `whsec_` + base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** The Standard Webhooks key of a secret: the decoded bytes after the prefix. */
export function standardWebhooksKey(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
