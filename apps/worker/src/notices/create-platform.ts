import { PLATFORM } from '@herald/core';
import type { NoticeConfig } from '@herald/config/notice-env';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { SecretCipher } from '@herald/store/secrets/secret-cipher';

/** The endpoint of notices, as if it were a record. Its secret is encrypted like all others, so that one path signs. */
export function createPlatform({ url, secret }: NoticeConfig, encryptSecret: SecretCipher['encrypt']): EndpointRecord {
  return {
    id: PLATFORM,
    workspaceId: PLATFORM,
    url,
    events: [],
    description: '',
    enabled: true,
    createdAt: 0,
    origin: PLATFORM,
    group: PLATFORM,
    encryptedSecret: encryptSecret(secret, PLATFORM),
    health: { consecutiveFailures: 0 },
  };
}
