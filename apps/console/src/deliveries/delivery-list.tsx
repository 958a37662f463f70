import { useId, useRef, useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { announce } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Choice, ResultChoice } from './choice.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { type Filter, FILTER_CHOICES, isFiltered, mergeHead, readFilter, writeFilter } from './list-state.ts';
import { HistoryAway, MoreRows } from './parts.tsx';
import { useDeliveries, useHead, useRedeliver, type Endpoints } from './queries.ts';

type DeliveryListProps = {
  /** Absent: those of the workspace. */
  readonly receiver?: string;
  readonly endpoints: Endpoints;
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
  readonly endpoints: Endpoints;
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
              showsEndpoint={receiver === undefined}
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

type FilterBarProps = {
  readonly filter: Filter;
  /** Those to choose from, where all deliveries are shown. */
  readonly receivers: readonly (readonly [id: string, title: string])[] | undefined;
  readonly onChange: (filter: Filter) => void;
};

/** Chooses which deliveries are shown. */
function FilterBar({ filter, receivers, onChange }: FilterBarProps) {
  const { filters, statuses } = deliveryTexts;
  const { statuses: statusNames, events, ranges } = FILTER_CHOICES;
  /** Without a choice the field leaves the filter. */
  const choose = (name: keyof Filter, value: string) => {
    const { [name]: _former, ...others } = filter;
    onChange(value === '' ? others : { ...others, [name]: value });
  };
  return (
    <div class="filters" role="group" aria-label={filters.label}>
      <Choice
        label={filters.status}
        any={filters.anyStatus}
        value={filter.status}
        onChoose={(value) => {
          choose('status', value);
        }}
        options={statusNames.map((status) => [status, statuses[status]])}
      />
      {receivers && (
        <Choice
          label={filters.receiver}
          any={filters.anyReceiver}
          value={filter.receiver}
          onChoose={(value) => {
            choose('receiver', value);
          }}
          options={receivers}
        />
      )}
      <Choice
        label={filters.event}
        any={filters.anyEvent}
        value={filter.event}
        onChoose={(value) => {
          choose('event', value);
        }}
        options={events.map((event) => [event, event])}
      />
      <ResultChoice
        result={filter}
        onChoose={(result) => {
          const { error: _error, http: _http, ...others } = filter;
          onChange({ ...others, ...result });
        }}
      />
      <Choice
        label={filters.time}
        any={filters.anyTime}
        value={filter.range}
        onChoose={(value) => {
          choose('range', value);
        }}
        options={ranges.map((range) => [range, filters.ranges[range]])}
      />
      <IdSearch
        key={filter.task}
        task={filter.task ?? ''}
        onTask={(task) => {
          choose('task', task);
        }}
      />
      {isFiltered(filter) && (
        <button
          type="button"
          class="link-button"
          onClick={() => {
            onChange({});
          }}
        >
          {filters.clear}
        </button>
      )}
    </div>
  );
}

/** The id of a Task filters; that of a delivery leads to it. */
function IdSearch({ task, onTask }: { readonly task: string; readonly onTask: (task: string) => void }) {
  const [text, setText] = useState(task);
  const [isWrong, setWrong] = useState(false);
  const hintId = useId();
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const id = text.trim();
    if (/^dlv_[a-z0-9]+$/.test(id)) navigate(`/console/deliveries/${id}`);
    else if (id === '' || /^task_[a-z0-9]+$/.test(id)) onTask(id);
    else setWrong(true);
  };
  return (
    <form onSubmit={submit}>
      <input
        type="search"
        class={task === '' ? 'mono' : 'mono is-set'}
        aria-label={deliveryTexts.filters.search}
        placeholder={deliveryTexts.filters.search}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setWrong(false);
        }}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? hintId : undefined}
      />
      {isWrong && (
        <p id={hintId} class="hint hint-bad" role="alert">
          {deliveryTexts.filters.wrongId}
        </p>
      )}
    </form>
  );
}

type SelectionBarProps = {
  readonly ids: readonly string[];
  readonly onDone: () => void;
  /** Selects all that the list shows; absent: they are. */
  readonly onAll?: (() => void) | undefined;
};

/** What can be done with the selected deliveries. It lies above the page, so that no row moves under the pointer. */
function SelectionBar({ ids, onDone, onAll }: SelectionBarProps) {
  const redeliver = useRedeliver();
  const [asked, setAsked] = useState(0);
  const stop = useRef<AbortController>();
  const start = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    const results = await redeliver.mutateAsync({ ids, onProgress: setAsked, signal });
    const refused = results.filter((result) => result.status === 'rejected');
    const done = results.length - refused.length;
    const why = refused[0]?.reason instanceof Error ? refused[0].reason.message : '';
    announce(refused.length > 0 ? deliveryTexts.someRefused(refused.length, why) : deliveryTexts.redelivered(done));
    onDone();
  };
  return (
    <div class="selection-bar" role="group" aria-label={deliveryTexts.selection}>
      <span role="status">
        {redeliver.isPending ? deliveryTexts.askedFor(asked, ids.length) : deliveryTexts.selected(ids.length)}
      </span>
      {redeliver.isPending ? (
        <button type="button" class="button" onClick={() => stop.current?.abort()}>
          {deliveryTexts.stop}
        </button>
      ) : (
        <>
          <button type="button" class="button button-main" onClick={() => void start()}>
            {deliveryTexts.redeliverMany}
          </button>
          {onAll && (
            <button type="button" class="button" onClick={onAll}>
              {deliveryTexts.selectShown}
            </button>
          )}
          <button type="button" class="link-button" onClick={onDone}>
            {deliveryTexts.unselect}
          </button>
        </>
      )}
    </div>
  );
}
