import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
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

/** Removes a receiver. Of what is gone nothing is read again. */
export function useRemoval(id: string, onRemoved: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => api.DELETE('/api/public/webhooks/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      onRemoved();
      void queries.invalidateQueries({ predicate: ({ queryKey }) => !JSON.stringify(queryKey).includes(id) });
    },
  });
}

/** Changes a receiver, then reads what it changed. */
export function useChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries(),
  });
}
