import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

const PREFIX = 'whsec_';

/** A signing secret as it is shown once: `whsec_` + base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** A secret in the form that signs: preparing a key costs Node five times as much as using it. */
export type SigningKey = {
  /** For `x-service-signature`: the secret's UTF-8 bytes exactly as it was shown. */
  readonly service: KeyObject;
  /** For Standard Webhooks: the decoded bytes after the prefix. */
  readonly standard: KeyObject;
};

export function createSigningKey(secret: string): SigningKey {
  return {
    service: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.slice(PREFIX.length), 'base64'),
  };
}
