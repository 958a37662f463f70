import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { api, type Schemas } from '../api/client.ts';
import { serverNow } from '../api/server-clock.ts';
import { toQuery, type Filter } from './filter.ts';

const PAGE = 50;
/** Enough to tell how many new ones there are. */
const HEAD = 25;

type Page = Schemas['DeliveryPage'];
type PageRequest = { readonly limit: number; readonly cursor?: string | undefined; readonly signal: AbortSignal };

/** A page of a receiver's deliveries. Only the list of the workspace knows Tasks. */
function readPage(receiver: string, filter: Filter, { limit, cursor, signal }: PageRequest): Promise<Page> {
  const query = { ...toQuery(filter, serverNow()), limit, ...(cursor !== undefined && { cursor }) };
  if (filter.task !== undefined) {
    const withIds = { ...query, receiverId: receiver, taskId: filter.task };
    return api.GET('/api/public/deliveries', { params: { query: withIds }, signal });
  }
  return api.GET('/api/public/webhooks/{id}/deliveries', { params: { path: { id: receiver }, query }, signal });
}

/** The pages that were asked for. They stay as they are, so that nothing jumps; see `useHead`. */
export function useDeliveries(receiver: string, filter: Filter) {
  return useInfiniteQuery({
    queryKey: ['deliveries', receiver, filter],
    queryFn: ({ pageParam, signal }) => readPage(receiver, filter, { limit: PAGE, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: false,
    staleTime: Infinity,
  });
}

/** The newest of the same list, read every few seconds: what is new, and how the rows on the screen stand. */
export function useHead(receiver: string, filter: Filter) {
  return useQuery({
    queryKey: ['head', receiver, filter],
    queryFn: ({ signal }) => readPage(receiver, filter, { limit: HEAD, signal }),
  });
}

export function useDelivery(id: string) {
  return useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => api.GET('/api/public/deliveries/{id}', { params: { path: { id } }, signal }),
  });
}

/** The receiver of a delivery, whose state explains why the delivery waits. A callback has none. */
export function useReceiverOf(receiverId: string | null) {
  return useQuery({
    queryKey: ['receiver', receiverId],
    queryFn: ({ signal }) =>
      api.GET('/api/public/webhooks/{id}', { params: { path: { id: receiverId ?? '' } }, signal }),
    enabled: receiverId !== null,
  });
}

/** Asks for one more attempt of each. One that is refused doesn't keep the others from it. */
export function useRedeliver() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (ids: readonly string[]) =>
      await Promise.allSettled(
        ids.map((id) => api.POST('/api/public/deliveries/{id}/redeliver', { params: { path: { id } } })),
      ),
    onSettled: async () => {
      await Promise.all(
        ['delivery', 'head', 'deliveries'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      );
    },
  });
}
