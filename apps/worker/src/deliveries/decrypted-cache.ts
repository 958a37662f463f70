import { createBoundedMap } from '@herald/runtime/async/bounded-map';

const LIMIT = 2_000;

/**
 * Remembers what encrypted texts of endpoints stand for. A secret that was changed or re-encrypted is another text, so
 * an entry is never stale. One that can't be decrypted is not remembered.
 */
export function createDecryptedCache<Value>(decrypt: (encrypted: string, endpointId: string) => Value) {
  const values = createBoundedMap<string, { readonly value: Value }>(LIMIT);
  return (encrypted: string, endpointId: string): Value => {
    const name = `${endpointId} ${encrypted}`;
    const known = values.get(name);
    if (known) return known.value;
    const value = decrypt(encrypted, endpointId);
    values.set(name, { value });
    return value;
  };
}
