import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef } from 'preact/hooks';
import { createStore } from '../state/create-store.ts';
import { api, type Schemas } from './client.ts';
import { judgePace, quietMs, stir } from './polling.ts';

/** What changes when something happens to deliveries, by the first word of its key. Pages of rows stay: nothing jumps. */
const WATCHED = new Set<unknown>(['receivers', 'receiver', 'newest', 'head', 'delivery', 'task']);

/** What is read beside the first look, before any version is known. */
const NOT_YET: Schemas['Activity'] = { version: '' };

/** Why the last look failed, and when one succeeded: what is on the screen is as old as that. */
export const failedLook = createStore<{ readonly reason: unknown; readonly since: number } | undefined>(undefined);

/**
 * Asks whether anything has happened, and if so reads again what is on the screen. While nobody looks, it asks less often.
 * @param endpoint only to this receiver or callback; absent: in the workspace
 */
export function useActivity(endpoint?: string): void {
  const queries = useQueryClient();
  const { data, isError, errorUpdatedAt, failureCount, failureReason, dataUpdatedAt } = useQuery({
    queryKey: ['activity', endpoint],
    queryFn: ({ signal }) =>
      api.GET('/api/public/activity', {
        params: {
          query:
            endpoint === undefined
              ? {}
              : endpoint.startsWith('cb_')
                ? { callbackId: endpoint }
                : { receiverId: endpoint },
        },
        signal,
      }),
    initialData: NOT_YET,
    initialDataUpdatedAt: Date.now,
    refetchInterval: () => judgePace(quietMs()),
  });
  const seen = useRef(data.version);
  useEffect(() => {
    // A service of a former version can't say, nor can one whose receiver is gone: what is on the screen finds out itself.
    if (data.version === seen.current && !isError) return;
    seen.current = data.version;
    stir();
    void queries.invalidateQueries({ predicate: ({ queryKey: [what] }) => WATCHED.has(what) });
  }, [data.version, isError, errorUpdatedAt, queries]);
  useEffect(() => {
    const isWaiting = failureCount > 0 && !isError;
    failedLook.set(isWaiting ? { reason: failureReason, since: dataUpdatedAt } : undefined);
  }, [failureCount, failureReason, dataUpdatedAt, isError]);
  useEffect(
    () => () => {
      failedLook.set(undefined);
    },
    [],
  );
}
