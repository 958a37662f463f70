import { useState } from 'preact/hooks';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Field } from '../ui/field.tsx';
import { judgeAdvanced, type AdvancedInput } from './advanced-input.ts';
import { findRefusal } from './find-refusal.ts';

type AdvancedFieldsProps = {
  readonly input: AdvancedInput;
  /** What the service says about the fields. */
  readonly refusals: Parameters<typeof findRefusal>[0];
  /** Saving drops the headers, since the url leads elsewhere. */
  readonly isDroppingHeaders: boolean;
  readonly onChange: (input: AdvancedInput) => void;
};

/** Order, rate, tries and headers: what few receivers need. Closed until somebody opens it, or something in it is wrong. */
export function AdvancedFields({ input, refusals, isDroppingHeaders, onChange }: AdvancedFieldsProps) {
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
