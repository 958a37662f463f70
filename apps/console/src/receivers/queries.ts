import { type Query, type QueryPersister, useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { api } from '../api/client.ts';
import { CHART_POLL_MS, judgeChartPace, quietMs } from '../api/polling.ts';
import { useReceivers } from '../deliveries/queries.ts';

export type StatsWindow = '1h' | '24h' | '7d';

/** The urls of the workspace's receivers, but for this one: a form warns of the same url twice. */
export function useOtherUrls(id?: string): readonly string[] {
  const webhooks = useReceivers().data?.webhooks ?? [];
  return webhooks.filter((each) => each.id !== id).map(({ url }) => url);
}

export function useReceiver(id: string) {
  return useQuery({
    queryKey: ['receiver', id],
    queryFn: ({ signal }) => api.GET('/api/public/webhooks/{id}', { params: { path: { id } }, signal }),
  });
}

export function useStats(id: string, window: StatsWindow, isWanted = true) {
  return useQuery({
    queryKey: ['stats', id, window],
    queryFn: ({ signal }) =>
      api.GET('/api/public/webhooks/{id}/stats', { params: { path: { id }, query: { window } }, signal }),
    enabled: isWanted,
    refetchInterval: () => judgeChartPace(quietMs()),
    staleTime: CHART_POLL_MS / 2,
    placeholderData: (former) => former,
  });
}

/** The newest deliveries of the workspace: they tell of tests, and whether an event has come. */
export function useNewestDeliveries() {
  return useQuery({
    queryKey: ['newest'],
    queryFn: ({ signal }) => api.GET('/api/public/deliveries', { params: { query: { limit: 50 } }, signal }),
  });
}

/** By the receiver that is being removed: settles when it is not, or when its page has been left. */
const removals = new Map<string, Promise<void>>();
/** How long after a removal its page has been left, in ms. */
const LEFT_AFTER_MS = 1_000;

const isAbout = (id: string, queryKey: readonly unknown[]) => JSON.stringify(queryKey).includes(id);

/** Removes a receiver. Meanwhile nothing of it is read: it would not be found. */
export function useRemoval(id: string, onRemoved: () => void) {
  const queries = useQueryClient();
  const isOf = ({ queryKey }: Query) => isAbout(id, queryKey);
  return useMutation({
    mutationFn: async () => {
      const stopped = queries.cancelQueries({ predicate: isOf });
      const removal = stopped.then(() => api.DELETE('/api/public/webhooks/{id}', { params: { path: { id } } }));
      const left = removal.then(
        () => new Promise<void>((resolve) => setTimeout(resolve, LEFT_AFTER_MS)),
        () => undefined,
      );
      removals.set(
        id,
        left.finally(() => removals.delete(id)),
      );
      try {
        return await removal;
      } catch (error) {
        void queries.invalidateQueries({ predicate: isOf });
        throw error;
      }
    },
    onSuccess: () => {
      onRemoved();
      void queries.invalidateQueries({ predicate: (query) => !isOf(query) });
    },
  });
}

/** Reads. What is of a receiver that is being removed waits for the end of that, and is not read if nobody wants it then. */
export const readUnlessLeaving: QueryPersister = async (read, context) => {
  const removal = [...removals].find(([id]) => isAbout(id, context.queryKey))?.[1];
  if (removal) {
    const { signal } = context;
    await removal;
    signal.throwIfAborted();
  }
  return read(context);
};

/** Changes a receiver, then reads what it changed. */
export function useChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries(),
  });
}
