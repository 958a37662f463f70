import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

const PREFIX = 'whsec_';

/** A signing secret, which is shown once: `whsec_` + base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** A secret prepared for signing: to prepare a key costs Node five times as much as to use it. */
export type SigningKey = {
  /** For `x-service-signature`: the UTF-8 bytes of the secret as shown. */
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
