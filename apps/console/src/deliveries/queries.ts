import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { api, type Schemas, serverNow } from '../api/client.ts';
import { type Filter, toQuery } from './list-state.ts';

const PAGE = 50;
/** Enough to tell how many new ones there are. */
const HEAD = 25;

type Page = Schemas['DeliveryPage'];
type PageRequest = { readonly limit: number; readonly cursor?: string | undefined; readonly signal: AbortSignal };

/** A page of the deliveries to a receiver, or of all. Only the list of the workspace knows Tasks and callbacks. */
function readPage(receiver: string | undefined, filter: Filter, request: PageRequest): Promise<Page> {
  const { limit, cursor, signal } = request;
  const query = { ...toQuery(filter, serverNow()), limit, ...(cursor !== undefined && { cursor }) };
  if (receiver !== undefined && filter.task === undefined)
    return api.GET('/api/public/webhooks/{id}/deliveries', { params: { path: { id: receiver }, query }, signal });
  const receiverId = receiver ?? filter.receiver;
  const withIds = {
    ...query,
    ...(receiverId !== undefined && { receiverId }),
    ...(filter.task !== undefined && { taskId: filter.task }),
  };
  return api.GET('/api/public/deliveries', { params: { query: withIds }, signal });
}

/** The pages that were asked for. They stay as they are, so that nothing jumps; see `useHead`. */
export function useDeliveries(receiver: string | undefined, filter: Filter) {
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
export function useHead(receiver: string | undefined, filter: Filter) {
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

/** Every receiver of the workspace. */
export function useReceivers() {
  return useQuery({
    queryKey: ['receivers'],
    queryFn: ({ signal }) => api.GET('/api/public/webhooks', { signal }),
  });
}

/** What lists show of receivers, by id: how they are called, and why what is due waits. */
export type Endpoints = ReadonlyMap<string, Pick<Schemas['Receiver'], 'url' | 'description' | 'health' | 'pausedAt'>>;

/** What lists show of receivers, by id. */
export function useEndpoints(): Endpoints {
  return new Map(useReceivers().data?.webhooks.map((receiver) => [receiver.id, receiver]));
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

/** Requests that are under way at once. */
const AT_ONCE = 5;

export type RedeliverMany = {
  readonly ids: readonly string[];
  /** Hears how many were asked for so far. */
  readonly onProgress?: (count: number) => void;
  /** Leaves the rest as it is. */
  readonly signal?: AbortSignal;
};

/** Asks for one more attempt of each. One that is refused doesn't keep the others from it. */
export function useRedeliver() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ ids, onProgress, signal }: RedeliverMany) => {
      const results: PromiseSettledResult<unknown>[] = [];
      for (let first = 0; first < ids.length && signal?.aborted !== true; first += AT_ONCE) {
        const some = ids
          .slice(first, first + AT_ONCE)
          .map((id) => api.POST('/api/public/deliveries/{id}/redeliver', { params: { path: { id } } }));
        results.push(...(await Promise.allSettled(some)));
        onProgress?.(results.length);
      }
      return results;
    },
    onSettled: async () => {
      await Promise.all(
        ['delivery', 'head', 'deliveries'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      );
    },
  });
}
