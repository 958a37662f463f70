import { useCallback, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { HistoryAway } from './history-away.tsx';
import { isFiltered, readFilter, writeFilter, type Filter } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { mergeHead } from './merge-head.ts';
import { MoreRows } from './more-rows.tsx';
import { useDeliveries, useHead } from './queries.ts';
import { SelectionBar } from './selection-bar.tsx';

/** A receiver's deliveries: filters, rows, what is new, and more of them. */
export function DeliveryList({ receiver }: { readonly receiver: string }) {
  const [query, setQuery] = useSearchParams();
  const filter = readFilter(query);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const mayWrite = useMayWrite();
  const toggle = useCallback((id: string) => {
    setSelected((former) =>
      former.has(id) ? new Set([...former].filter((each) => each !== id)) : new Set([...former, id]),
    );
  }, []);
  const clear = () => {
    setSelected(new Set());
  };
  const onFilter = (chosen: Filter) => {
    clear();
    setQuery((former) => writeFilter(chosen, former), { replace: true });
  };
  return (
    <section aria-label={deliveryTexts.title}>
      <div class="section-head">
        <h2>{deliveryTexts.title}</h2>
        <FilterBar filter={filter} onChange={onFilter} />
      </div>
      {selected.size > 0 && <SelectionBar ids={[...selected]} onDone={clear} />}
      <Rows
        key={JSON.stringify(filter)}
        receiver={receiver}
        filter={filter}
        selection={mayWrite ? { ids: selected, toggle } : undefined}
      />
    </section>
  );
}

type RowsProps = {
  readonly receiver: string;
  readonly filter: Filter;
  readonly selection: { readonly ids: ReadonlySet<string>; readonly toggle: (id: string) => void } | undefined;
};

function Rows({ receiver, filter, selection }: RowsProps) {
  const pages = useDeliveries(receiver, filter);
  const head = useHead(receiver, filter);
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
        return (
          <>
            {rows.length > 0 && fresh.length > 0 && (
              <button type="button" class="new-rows" onClick={() => void pages.refetch()}>
                ↑ {newOnes(fresh.length, isMore)}
              </button>
            )}
            <HistoryAway pages={data.pages} />
            <DeliveryTable label={title} rows={shown} selection={selection} />
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
