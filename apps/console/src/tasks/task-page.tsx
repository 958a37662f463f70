import { useInfiniteQuery } from '@tanstack/preact-query';
import { useActivity } from '../api/activity.ts';
import { api } from '../api/client.ts';
import { DeliveryTable } from '../deliveries/delivery-table.tsx';
import { EventName, HistoryAway, MoreRows } from '../deliveries/parts.tsx';
import { useEndpoints } from '../deliveries/queries.ts';
import { taskTexts } from '../texts/delivery-texts.ts';
import { Id } from '../ui/copy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { ExactTime } from '../ui/time.tsx';

function useTaskDeliveries(id: string) {
  return useInfiniteQuery({
    queryKey: ['task', id],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.GET('/tasks/{id}/deliveries', {
        params: { path: { id }, query: { limit: 50, ...(cursor !== undefined && { cursor }) } },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}

/** A Task: each transition, the newest first, with every delivery of it. */
export function TaskPage({ id }: { readonly id: string }) {
  const pages = useTaskDeliveries(id);
  const endpoints = useEndpoints();
  useActivity();
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{taskTexts.title}</h1>
          <Id id={id} />
        </div>
      </header>
      <Loaded of={pages}>
        {(data) => {
          const transitions = groupByTransition(data.pages.flatMap(({ deliveries }) => deliveries));
          if (transitions.length === 0) {
            return (
              <div class="empty">
                <h2>{taskTexts.emptyTitle}</h2>
                <p>{taskTexts.empty}</p>
              </div>
            );
          }
          return (
            <>
              <HistoryAway pages={data.pages} />
              {transitions.map(([first, ...others]) => (
                <section key={first.transitionId} class="transition">
                  <h2>
                    <EventName event={first.event} sampleOf={first.sampleOf} />{' '}
                    <small>
                      <ExactTime at={first.createdAt} />
                    </small>
                  </h2>
                  <DeliveryTable
                    label={taskTexts.deliveriesOf(first.event)}
                    rows={[first, ...others]}
                    endpoints={endpoints}
                  />
                </section>
              ))}
              {pages.hasNextPage && (
                <MoreRows isLoading={pages.isFetchingNextPage} load={() => void pages.fetchNextPage()} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Puts the deliveries of each transition together, in the order in which they come. */
function groupByTransition<T extends { readonly transitionId: string }>(deliveries: readonly T[]): [T, ...T[]][] {
  return [...Map.groupBy(deliveries, ({ transitionId }) => transitionId).values()] as [T, ...T[]][];
}
