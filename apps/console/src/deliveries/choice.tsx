import { codeWords } from '../texts/code-words.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import type { Filter } from './list-state.ts';

type Option = readonly [value: string, title: string];

type ChoiceProps = {
  readonly label: string;
  readonly any: string;
  readonly value: string | undefined;
  readonly options: readonly (Option | readonly [group: string, options: readonly Option[]])[];
  readonly onChoose: (value: string) => void;
};

/** One of several, or any. */
export function Choice({ label, any, value = '', options, onChoose }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value}
      class={value === '' ? undefined : 'is-set'}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value);
      }}
    >
      <option value="">{any}</option>
      {options.map(([name, each]) =>
        typeof each === 'string' ? (
          <option value={name}>{each}</option>
        ) : (
          <optgroup label={name}>
            {each.map(([option, title]) => (
              <option value={option}>{title}</option>
            ))}
          </optgroup>
        ),
      )}
    </select>
  );
}

/** What a delivery came to: an answer by its status, or why there was none. */
export type Result = Pick<Filter, 'error' | 'http'>;

const HTTP = ['2xx', '3xx', '4xx', '5xx', '400', '401', '403', '404', '405', '408', '409', '410', '413', '415', '429'];
const SERVER = ['500', '502', '503', '504'];
const ERRORS = Object.entries(codeWords).sort(([, a], [, b]) => a.localeCompare(b));

/** Chooses what the last attempt came to. An address may name a status that is in no list. */
export function ResultChoice({
  result,
  onChoose,
}: {
  readonly result: Result;
  readonly onChoose: (result: Result) => void;
}) {
  const { filters } = deliveryTexts;
  const { error, http } = result;
  const statuses = [...new Set([...HTTP, ...SERVER, ...(http === undefined ? [] : [http])])];
  return (
    <Choice
      label={filters.result}
      any={filters.anyResult}
      value={error ?? http}
      options={[
        [filters.answered, statuses.map((status) => [status, filters.answer(status)])],
        [filters.unanswered, ERRORS],
      ]}
      onChoose={(value) => {
        if (value === '') onChoose({});
        else onChoose(Object.hasOwn(codeWords, value) ? { error: value } : { http: value });
      }}
    />
  );
}
