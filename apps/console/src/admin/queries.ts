import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/preact-query';
import { api, type Schemas, serverNow } from '../api/client.ts';
import { POLL_MS } from '../api/polling.ts';
import { toAuditQuery, type AuditFilter } from './audit-filter.ts';

export type OverviewWindow = Schemas['Overview']['window'];

export function useOverview(window: OverviewWindow) {
  return useQuery({
    queryKey: ['overview', window],
    queryFn: ({ signal }) => api.GET('/api/operator/overview', { params: { query: { window } }, signal }),
    refetchInterval: POLL_MS,
    placeholderData: (former) => former,
  });
}

export function useWaitingReceivers(find: string) {
  return useQuery({
    queryKey: ['waiting receivers', find],
    queryFn: ({ signal }) =>
      api.GET('/api/operator/receivers', {
        params: { query: { limit: 100, ...(find !== '' && { find }) } },
        signal,
      }),
    refetchInterval: POLL_MS,
    placeholderData: (former) => former,
  });
}

export function useFailed() {
  return useInfiniteQuery({
    queryKey: ['failed'],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.GET('/api/operator/deliveries/failed', {
        params: { query: { limit: 50, ...(cursor !== undefined && { cursor }) } },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: false,
  });
}

export function useAudit(filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.GET('/api/operator/audit', {
        params: {
          query: { ...toAuditQuery(filter, serverNow()), limit: 50, ...(cursor !== undefined && { cursor }) },
        },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: false,
  });
}

export function useSearch(q: string) {
  return useQuery({
    queryKey: ['search', q],
    queryFn: ({ signal }) => api.GET('/api/operator/search', { params: { query: { q } }, signal }),
    enabled: q !== '',
    refetchInterval: false,
  });
}

/** Makes a link to a workspace's console and follows it to a page there. */
export function useOpenWorkspace() {
  return useMutation({
    mutationFn: async ({ workspaceId, page }: { readonly workspaceId: string; readonly page: string }) => {
      const { token } = await api.POST('/api/operator/workspaces/{id}/portal-links', {
        params: { path: { id: workspaceId } },
        body: {},
      });
      location.assign(`${page}#token=${token}`);
    },
  });
}
