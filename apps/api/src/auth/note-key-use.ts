import type { ApiKey, ApiKeyStore } from '@herald/store/api-keys/api-key-store';
import type { Logger } from '@herald/runtime/log/logger';

export type NoteKeyUseDeps = {
  readonly writeLastUse: ApiKeyStore['writeLastUse'];
  readonly logger: Logger;
  readonly now: () => number;
};

/** How long the recorded last use of a key may be out of date, in ms. */
const INTERVAL_MS = 60_000;

/** Records the last use of a key, at most about once a minute. No request waits for it. */
export function createNoteKeyUse({ writeLastUse, logger, now }: NoteKeyUseDeps) {
  const inWriting = new Set<string>();
  return function noteKeyUse({ id, lastUsedAt = 0 }: ApiKey): void {
    const at = now();
    if (at - lastUsedAt < INTERVAL_MS || inWriting.has(id)) return;
    inWriting.add(id);
    void writeLastUse(id, at)
      .catch((error: unknown) => {
        logger.warn('key.last_use_not_written', { keyId: id }, error);
      })
      .finally(() => inWriting.delete(id));
  };
}
