import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client.ts';
import { isSuccess } from '../deliveries/explain-attempt.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { createLazy } from '../ui/create-lazy.tsx';
import { NewReceiverForm, type useRegistration } from './add-receiver.tsx';
import { TestDialog } from './test-dialog.tsx';

const Examples = createLazy(() => import('./examples.tsx').then((module) => module.Examples));

/** What the first three steps are known by. */
type Known = {
  readonly receivers: readonly Pick<Schemas['Receiver'], 'id' | 'health'>[];
  readonly newest: readonly Pick<Schemas['Delivery'], 'event' | 'lastAttempt' | 'receiverId'>[];
};

/** Which steps have happened: a receiver is there, took a test, and took an event. */
export function judgeSteps({ receivers, newest }: Known) {
  const arrived = newest.filter(
    ({ lastAttempt, receiverId }) => receiverId !== null && lastAttempt !== null && isSuccess(lastAttempt),
  );
  const isReal = receivers.some(({ health }) => health.lastSuccessAt !== null);
  return {
    isAdded: receivers.length > 0,
    isTested: isReal || arrived.some(({ event }) => event === 'webhook.test'),
    isReal: isReal || arrived.some(({ event }) => event !== 'webhook.test'),
  };
}

type FirstStepsProps = Known & {
  /** Absent: he may only look. */
  readonly registration: ReturnType<typeof useRegistration> | undefined;
};

/** The way to the first event, in three steps. Each ticks itself off once it has happened. */
export function FirstSteps({ receivers, newest, registration }: FirstStepsProps) {
  const { steps } = receiverTexts;
  const { isAdded, isTested, isReal } = judgeSteps({ receivers, newest });
  const [testing, setTesting] = useState<string>();
  const [first] = receivers;
  return (
    <section class="steps" aria-label={steps.title}>
      <h2>{isAdded ? steps.goesOn : steps.title}</h2>
      <ol>
        <Step number={1} title={steps.add} isDone={isAdded} isNext={!isAdded}>
          <div class="first-receiver">
            <div>
              <p>{receiverTexts.empty}</p>
              {registration ? (
                <NewReceiverForm registration={registration} isInPage />
              ) : (
                <p class="quiet">{steps.readOnly}</p>
              )}
            </div>
            <div>
              <p class="quiet">{receiverTexts.secret.verifyHint}</p>
              <Examples />
            </div>
          </div>
        </Step>
        <Step number={2} title={steps.test} isDone={isTested} isNext={isAdded && !isTested}>
          <p>{steps.testHint}</p>
          {registration && first && (
            <button
              type="button"
              class="button button-main"
              onClick={() => {
                setTesting(first.id);
              }}
            >
              {receiverTexts.actions.test}
            </button>
          )}
        </Step>
        <Step number={3} title={steps.real} isDone={isReal} isNext={isTested && !isReal}>
          <p>{steps.realHint}</p>
        </Step>
      </ol>
      {testing !== undefined && (
        <TestDialog
          id={testing}
          onClose={() => {
            setTesting(undefined);
          }}
        />
      )}
    </section>
  );
}

type StepProps = {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly isNext: boolean;
  readonly children: ComponentChildren;
};

/** Only the next step says what to do. */
function Step({ number, title, isDone, isNext, children }: StepProps) {
  const { steps } = receiverTexts;
  return (
    <li
      class={isDone ? 'step step-done' : isNext ? 'step step-next' : 'step'}
      aria-current={isNext ? 'step' : undefined}
    >
      <h3>
        <span class="step-mark" aria-hidden="true">
          {isDone ? '✓' : number}
        </span>
        {title}
        {isDone && <span class="unseen"> {steps.done}</span>}
      </h3>
      {isNext && children}
    </li>
  );
}
