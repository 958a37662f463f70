import { judgeEndpointUrl } from '@herald/core/endpoints/judge-endpoint-url';
import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/api-problem.ts';
import type { Schemas } from '../api/client.ts';
import { TASK_EVENTS } from '../deliveries/list-state.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { texts } from '../texts/texts.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import {
  NO_ADVANCED,
  toAdvancedInput,
  type AdvancedFields as AdvancedFieldsOfRequest,
  type AdvancedInput,
  dropsHeaders,
  findRefusal,
  isToldAtFields,
  judgeAdvanced,
  toAdvancedFields,
} from './form-input.ts';

type EventName = Schemas['EventName'];
type ReceiverInput = { readonly url: string; readonly description: string; readonly events: EventName[] };
export type ReceiverChange = ReceiverInput & AdvancedFieldsOfRequest;

const NO_INPUT: ReceiverInput = { url: '', description: '', events: [] };

type ReceiverFormProps = {
  /** The one that is changed. Absent: a new one. */
  readonly receiver?: Schemas['Receiver'];
  readonly submitText: string;
  readonly isSaving: boolean;
  readonly error: unknown;
  readonly onSubmit: (input: ReceiverChange) => void;
  /** The urls of the other receivers of the workspace. */
  readonly otherUrls: readonly string[];
  /** It is not in a dialog of its own, and takes no focus. */
  readonly isInPage?: boolean;
};

/** The fields of a receiver. The rules of the url are those of the service; what only it can know, it says itself. */
export function ReceiverForm({
  receiver,
  submitText,
  isSaving,
  error,
  onSubmit,
  otherUrls,
  isInPage = false,
}: ReceiverFormProps) {
  const { form } = receiverTexts;
  const first: ReceiverInput = receiver ?? NO_INPUT;
  const firstAdvanced = receiver ? toAdvancedInput(receiver) : NO_ADVANCED;
  const [typedUrl, setUrl] = useState(first.url);
  // Pasted text often has a blank or a line break around it.
  const url = typedUrl.trim();
  const [description, setDescription] = useState(first.description);
  const [events, setEvents] = useState<ReadonlySet<EventName>>(new Set(first.events));
  const [wantsAll, setWantsAll] = useState(first.events.length === 0);
  const [advanced, setAdvanced] = useState(firstAdvanced);
  const [isTried, setTried] = useState(false);
  const refusals = error instanceof ApiProblem ? error.errors : [];
  const refusal = findRefusal(refusals, 'url');
  const problem = judgeEndpointUrl(url);
  // While https:// is being typed it is no fault yet.
  const isBeginning = 'https://'.startsWith(url);
  const shownProblem = problem !== undefined && (isTried || !isBeginning) ? problem : refusal;
  const isTaken = otherUrls.includes(url);
  const lacksEvents = !wantsAll && events.size === 0;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== undefined || lacksEvents || judgeAdvanced(advanced).size > 0) return;
    const changed = toAdvancedFields(firstAdvanced, advanced);
    onSubmit({ url, description, events: wantsAll ? [] : [...events], ...changed });
  };
  return (
    <form onSubmit={submit}>
      <Field
        label={form.url}
        hint={form.urlHint}
        problem={shownProblem === undefined ? undefined : `${form.urlPrefix} ${shownProblem}.`}
      >
        {(ids) => (
          <input
            {...ids}
            class="mono"
            type="text"
            inputMode="url"
            spellcheck={false}
            autocomplete="off"
            autoFocus={!isInPage}
            placeholder="https://"
            value={typedUrl}
            onInput={({ currentTarget }) => {
              setUrl(currentTarget.value);
            }}
          />
        )}
      </Field>
      {isTaken && (
        <p class="notice" role="status">
          {form.sameUrl}
        </p>
      )}
      <Field label={form.description} hint={form.descriptionHint}>
        {(ids) => (
          <input
            {...ids}
            type="text"
            maxLength={1_024}
            value={description}
            onInput={({ currentTarget }) => {
              setDescription(currentTarget.value);
            }}
          />
        )}
      </Field>
      <fieldset>
        <legend>{form.events}</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={wantsAll}
            onChange={({ currentTarget }) => {
              setWantsAll(currentTarget.checked);
            }}
          />{' '}
          {form.allEvents}
        </label>
        {TASK_EVENTS.map((name) => (
          <label class="check">
            <input
              type="checkbox"
              disabled={wantsAll}
              checked={wantsAll || events.has(name)}
              onChange={({ currentTarget: { checked } }) => {
                setEvents(new Set([...events].filter((each) => each !== name).concat(checked ? [name] : [])));
              }}
            />{' '}
            <span>
              <code>{name}</code> <span class="quiet">{form.meanings[name]}</span>
            </span>
          </label>
        ))}
        {isTried && lacksEvents && (
          <p class="hint hint-bad" role="alert">
            {form.chooseOne}
          </p>
        )}
      </fieldset>
      <AdvancedFields
        input={advanced}
        refusals={refusals}
        isDroppingHeaders={dropsHeaders(first.url, url, advanced)}
        onChange={setAdvanced}
      />
      {error != null && !isToldAtFields(refusals) && <Problem error={error} />}
      <footer class="dialog-foot">
        <button type="submit" class="button button-main" disabled={isSaving}>
          {isSaving ? texts.saving : submitText}
        </button>
      </footer>
    </form>
  );
}

type AdvancedFieldsProps = {
  readonly input: AdvancedInput;
  /** What the service says about the fields. */
  readonly refusals: Parameters<typeof findRefusal>[0];
  /** Saving drops the headers, since the url leads elsewhere. */
  readonly isDroppingHeaders: boolean;
  readonly onChange: (input: AdvancedInput) => void;
};

/** Order, rate, tries and headers: what few receivers need. Closed until somebody opens it, or something in it is wrong. */
function AdvancedFields({ input, refusals, isDroppingHeaders, onChange }: AdvancedFieldsProps) {
  const texts = receiverTexts.advanced;
  const [isOpen, setOpen] = useState(false);
  const problems = judgeAdvanced(input);
  const timeoutProblem = problems.get('orderingTimeoutSeconds') ?? findRefusal(refusals, 'orderingTimeoutSeconds');
  const rateProblem = problems.get('rateLimit') ?? findRefusal(refusals, 'rateLimit');
  const hoursProblem = problems.get('maxRetryHours') ?? findRefusal(refusals, 'maxRetryHours');
  const headersProblem = problems.get('headers') ?? findRefusal(refusals, 'headers');
  const isWrong = [timeoutProblem, rateProblem, hoursProblem, headersProblem].some((each) => each !== undefined);
  const set = (change: Partial<AdvancedInput>) => {
    onChange({ ...input, ...change });
  };
  return (
    <details
      class="advanced"
      open={isOpen || isWrong || isDroppingHeaders}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary>{texts.title}</summary>
      <label class="check">
        <input
          type="checkbox"
          checked={input.ordering === 'task'}
          onChange={({ currentTarget: { checked } }) => {
            set({ ordering: checked ? 'task' : 'none' });
          }}
        />{' '}
        {texts.ordering}
      </label>
      {input.ordering === 'task' && (
        <TextField
          label={texts.orderingTimeout}
          hint={texts.orderingTimeoutHint}
          problem={timeoutProblem}
          value={input.orderingTimeout}
          onText={(orderingTimeout) => {
            set({ orderingTimeout });
          }}
        />
      )}
      <div class="pair">
        <TextField
          label={texts.rate}
          hint={texts.rateHint}
          problem={rateProblem}
          value={input.perSecond}
          onText={(perSecond) => {
            set({ perSecond });
          }}
        />
        <TextField
          label={texts.maxRetryHours}
          hint={texts.maxRetryHoursHint}
          problem={hoursProblem}
          value={input.maxRetryHours}
          onText={(maxRetryHours) => {
            set({ maxRetryHours });
          }}
        />
      </div>
      {input.headerNames.length > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={input.headers !== undefined}
            onChange={({ currentTarget: { checked } }) => {
              set({ headers: checked ? '' : undefined });
            }}
          />{' '}
          <span>
            {texts.replaceHeaders} <code>{input.headerNames.join(', ')}</code>
          </span>
        </label>
      )}
      {isDroppingHeaders && (
        <p class="notice" role="alert">
          {texts.dropsHeaders}
        </p>
      )}
      {input.headers !== undefined && (
        <Field
          label={texts.headers}
          hint={input.headerNames.length === 0 ? texts.headersHint : texts.newHeadersHint}
          problem={sentenceOf(texts.headers, headersProblem)}
        >
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={3}
              spellcheck={false}
              autocomplete="off"
              placeholder="authorization: Bearer …"
              value={input.headers}
              onInput={({ currentTarget: { value } }) => {
                set({ headers: value });
              }}
            />
          )}
        </Field>
      )}
    </details>
  );
}

type TextFieldProps = {
  readonly label: string;
  readonly hint: string;
  readonly problem: string | undefined;
  readonly value: string;
  readonly onText: (text: string) => void;
};

function TextField({ label, hint, problem, value, onText }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={sentenceOf(label, problem)}>
      {(ids) => (
        <input
          {...ids}
          type="text"
          autocomplete="off"
          value={value}
          onInput={({ currentTarget }) => {
            onText(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

function sentenceOf(label: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${label}: ${problem}.`;
}
