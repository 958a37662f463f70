import type { OwnHeaders } from '@herald/core';
import { z } from 'zod';
import type { SealedHeaders } from '../endpoints/endpoint-record.ts';
import type { SecretCipher } from './secret-cipher.ts';

const Headers = z.record(z.string(), z.string());

/** Encrypts the headers of an endpoint's own, for its record. */
export function createSealHeaders(encrypt: SecretCipher['encrypt']) {
  return (headers: OwnHeaders, endpointId: string): SealedHeaders => ({
    names: Object.keys(headers),
    encrypted: encrypt(JSON.stringify(headers), endpointId, 'headers'),
  });
}
export type SealHeaders = ReturnType<typeof createSealHeaders>;

/** @throws UndecryptableSecretError */
export function openHeaders(decrypt: SecretCipher['decrypt'], encrypted: string, endpointId: string): OwnHeaders {
  return Headers.parse(JSON.parse(decrypt(encrypted, endpointId, 'headers')));
}
