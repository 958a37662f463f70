import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Choice, ResultChoice } from './choice.tsx';
import { FILTER_CHOICES, isFiltered, type Filter } from './filter.ts';

type FilterBarProps = {
  readonly filter: Filter;
  /** Those to choose from, where all deliveries are shown. */
  readonly receivers: readonly (readonly [id: string, title: string])[] | undefined;
  readonly onChange: (filter: Filter) => void;
};

/** Chooses which deliveries are shown. */
export function FilterBar({ filter, receivers, onChange }: FilterBarProps) {
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
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const id = text.trim();
    if (/^dlv_[a-z0-9]+$/.test(id)) navigate(`/console/deliveries/${id}`);
    else if (id === '' || /^task_[a-z0-9]+$/.test(id)) onTask(id);
    else announce(deliveryTexts.filters.wrongId);
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
        }}
      />
    </form>
  );
}
