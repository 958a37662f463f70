import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { DeliveryTable, type Endpoints } from './delivery-table.tsx';
import { HistoryAway } from './history-away.tsx';
import { isFiltered, readFilter, writeFilter, type Filter } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { mergeHead } from './merge-head.ts';
import { MoreRows } from './more-rows.tsx';
import { useDeliveries, useHead } from './queries.ts';
import { SelectionBar } from './selection-bar.tsx';

type DeliveryListProps = {
  /** Absent: those of the workspace. */
  readonly receiver?: string;
  /** The receivers of the workspace, where all of its deliveries are shown. */
  readonly endpoints?: Endpoints;
  readonly choices?: readonly (readonly [id: string, title: string])[];
  /** Begins to send again all that match the filter. */
  readonly onRedeliverAll: (filter: Filter) => void;
};

/** Deliveries: filters, rows, what is new, and more of them. */
export function DeliveryList({ receiver, endpoints, choices, onRedeliverAll }: DeliveryListProps) {
  const [query, setQuery] = useSearchParams();
  const filter = readFilter(query);
  const mayWrite = useMayWrite();
  const onFilter = (chosen: Filter) => {
    setQuery((former) => writeFilter(chosen, former), { replace: true });
  };
  const { title, tryAllNow, redeliverAll } = deliveryTexts;
  return (
    <section aria-label={title}>
      <div class="section-head">
        {receiver !== undefined && <h2>{title}</h2>}
        <FilterBar filter={filter} receivers={choices} onChange={onFilter} />
        {mayWrite && isFiltered(filter) && filter.event !== 'webhook.test' && (
          <button
            type="button"
            class="button"
            onClick={() => {
              onRedeliverAll(filter);
            }}
          >
            {filter.status === 'pending' ? tryAllNow : redeliverAll}
          </button>
        )}
      </div>
      <Rows
        key={JSON.stringify(filter)}
        receiver={receiver}
        filter={filter}
        endpoints={endpoints}
        mayWrite={mayWrite}
      />
    </section>
  );
}

type RowsProps = {
  readonly receiver: string | undefined;
  readonly filter: Filter;
  readonly endpoints: Endpoints | undefined;
  readonly mayWrite: boolean;
};

function Rows({ receiver, filter, endpoints, mayWrite }: RowsProps) {
  const pages = useDeliveries(receiver, filter);
  const head = useHead(receiver, filter);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = (ids: readonly string[], isSelected: boolean) => {
    setSelected((former) => {
      const next = new Set(former);
      for (const id of ids) {
        if (isSelected) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  };
  const { emptyTitle, empty, emptyFiltered, newOnes, noMore, title } = deliveryTexts;
  return (
    <Loaded of={pages}>
      {(data) => {
        const known = data.pages.flatMap(({ deliveries }) => deliveries);
        const { rows, fresh, isMore } = mergeHead(known, head.data?.deliveries ?? []);
        // Where nothing is shown, nothing can jump.
        const shown = rows.length === 0 ? fresh : rows;
        if (shown.length === 0 && !pages.hasNextPage) {
          return (
            <div class="empty">
              <h3>{emptyTitle}</h3>
              <p>{isFiltered(filter) ? emptyFiltered : empty}</p>
            </div>
          );
        }
        const left = shown.filter(({ id }) => !selected.has(id)).map(({ id }) => id);
        return (
          <>
            {selected.size > 0 && (
              <SelectionBar
                ids={[...selected]}
                onDone={() => {
                  setSelected(new Set());
                }}
                onAll={
                  left.length === 0
                    ? undefined
                    : () => {
                        select(left, true);
                      }
                }
              />
            )}
            {rows.length > 0 && fresh.length > 0 && (
              <button type="button" class="new-rows" onClick={() => void pages.refetch()}>
                ↑ {newOnes(fresh.length, isMore)}
              </button>
            )}
            <HistoryAway pages={data.pages} />
            <DeliveryTable
              label={title}
              rows={shown}
              endpoints={endpoints}
              showsTask
              selection={mayWrite ? { ids: selected, select } : undefined}
            />
            {pages.hasNextPage ? (
              <MoreRows isLoading={pages.isFetchingNextPage} load={() => void pages.fetchNextPage()} />
            ) : (
              <p class="end">{noMore}</p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}
