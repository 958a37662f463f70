import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import { type Schemas, api } from '../api/client.ts';
import { newIdempotencyKey } from '../api/create-api.ts';
import { Sparkline } from '../charts/charts.tsx';
import { isSuccess } from '../deliveries/explain-attempt.ts';
import { useReceivers } from '../deliveries/queries.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { limitText, LONGEST_MS, percentText } from '../time/time-text.ts';
import { createLazy } from '../ui/create-lazy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Time, useNow } from '../ui/time.tsx';
import { ForeignText, Url, Badge } from '../ui/words.tsx';
import { Cause } from './cause.tsx';
import { useNewestDeliveries, useStats, useChange, useOtherUrls } from './queries.ts';
import { ReceiverForm, type ReceiverChange } from './receiver-form.tsx';
import { describeState, inBrief, lastAttemptAt, lastTestOf } from './receiver-state.ts';
import { SecretOnce } from './secret-once.tsx';
import { TestDialog } from './test-dialog.tsx';

const LIMIT = 10;
const DAY_MS = 86_400_000;

/** Every receiver of the workspace, and how each does. */
export function ReceiversPage() {
  const receivers = useReceivers();
  useActivity();
  const deliveries = useNewestDeliveries();
  const newest = deliveries.data?.deliveries ?? [];
  const mayWrite = useMayWrite();
  const registration = useRegistration();
  const [isAdding, setAdding] = useState(false);
  const known = { receivers: receivers.data?.webhooks ?? [], newest };
  const isNew = deliveries.data !== undefined && !judgeSteps(known).isReal;
  // Whoever waits for the first event sees the last step tick itself off, too.
  const wasNew = useRef(false);
  wasNew.current ||= isNew;
  const count = known.receivers.length;
  const close = () => {
    setAdding(false);
    registration.end();
  };
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{receiverTexts.title}</h1>
          {receivers.data && <p class="quiet">{receiverTexts.limit(count)}</p>}
        </div>
        {mayWrite && count > 0 && (
          <button
            type="button"
            class="button button-main"
            disabled={count >= LIMIT}
            onClick={() => {
              setAdding(true);
            }}
          >
            {receiverTexts.add}
          </button>
        )}
      </header>
      <Loaded of={receivers}>
        {({ webhooks }) => (
          <>
            {(webhooks.length === 0 || wasNew.current) && (
              <FirstSteps {...known} registration={mayWrite ? registration : undefined} />
            )}
            {webhooks.length > 0 && <ReceiverTable receivers={webhooks} newest={newest} />}
          </>
        )}
      </Loaded>
      {isAdding && !registration.register.data && (
        <Dialog title={receiverTexts.form.addTitle} onClose={close}>
          <NewReceiverForm registration={registration} />
        </Dialog>
      )}
      {registration.register.data && <Registered registration={registration} onClose={close} />}
    </>
  );
}

type ReceiverTableProps = {
  readonly receivers: readonly Schemas['Receiver'][];
  readonly newest: readonly Schemas['Delivery'][];
};

function ReceiverTable({ receivers, newest }: ReceiverTableProps) {
  const { headings, title } = receiverTexts;
  return (
    <table class="rows receivers" aria-label={title}>
      <thead>
        <tr>
          <th scope="col">{headings.receiver}</th>
          <th scope="col">{headings.state}</th>
          <th scope="col">{headings.day}</th>
          <th scope="col" class="col-number">
            {headings.p95}
          </th>
          <th scope="col">{headings.last}</th>
          <th scope="col" class="col-number">
            {headings.waiting}
          </th>
        </tr>
      </thead>
      <tbody>
        {receivers.map((receiver) => (
          <ReceiverRow
            key={receiver.id}
            receiver={receiver}
            newest={newest.filter(({ receiverId }) => receiverId === receiver.id)}
          />
        ))}
      </tbody>
    </table>
  );
}

type ReceiverRowProps = {
  readonly receiver: Schemas['Receiver'];
  /** What the newest deliveries of the workspace tell of it. */
  readonly newest: readonly Schemas['Delivery'][];
};

function ReceiverRow({ receiver, newest }: ReceiverRowProps) {
  const now = useNow();
  const stats = useStats(receiver.id, '24h').data;
  const { tone, state, cause, explanation } = describeState(receiver, now, lastTestOf(newest));
  const { events, description, health, id, url } = receiver;
  const lastAt = lastAttemptAt(health);
  // What was counted is a minute old at times, and may lack the last one.
  const isHeldBack = health.state === 'disabled' || health.state === 'paused';
  const isQuiet = lastAt === undefined || now - Date.parse(lastAt) > DAY_MS;
  return (
    <tr>
      <td class="col-receiver">
        <Link href={`/console/receivers/${id}`} data-row className="row-link">
          <Url url={url} />
        </Link>
        <span class="receiver-notes">
          {description !== '' && (
            <span class="description">
              <ForeignText text={description} />
            </span>
          )}
          <span class="quiet">{events.length === 0 ? receiverTexts.allEvents : events.join(', ')}</span>
        </span>
      </td>
      <td class="col-state">
        <Badge tone={tone}>{state}</Badge>
        {(cause !== undefined || isHeldBack) && (
          <p class="quiet cause">{cause ? <Cause cause={cause} /> : inBrief(explanation)}</p>
        )}
      </td>
      <td class="col-day">
        {stats && (
          <span class="day">
            <Sparkline
              buckets={stats.buckets}
              label={receiverTexts.sparkline(stats.totals.delivered, stats.totals.failedAttempts)}
            />
            {stats.totals.successRate !== undefined ? (
              <span>{percentText(stats.totals.successRate)}</span>
            ) : (
              isQuiet && <span class="quiet">{receiverTexts.noTraffic}</span>
            )}
          </span>
        )}
      </td>
      <td class="col-number">
        {stats?.totals.p95Ms === undefined ? (
          <span class="quiet nothing">–</span>
        ) : (
          limitText(stats.totals.p95Ms, LONGEST_MS.attempt)
        )}
      </td>
      <td class="col-last">{lastAt === undefined ? <span class="quiet nothing">–</span> : <Time at={lastAt} />}</td>
      <td class="col-number">{health.backlog}</td>
    </tr>
  );
}

const Examples = createLazy(() => import('./examples.tsx').then((module) => module.Examples));

/** What the first three steps are known by. */
type Known = {
  readonly receivers: readonly Pick<Schemas['Receiver'], 'id' | 'health'>[];
  readonly newest: readonly Pick<Schemas['Delivery'], 'event' | 'lastAttempt' | 'receiverId'>[];
};

/** Which steps have happened: a receiver is there, took a test, and took an event. */
function judgeSteps({ receivers, newest }: Known) {
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
function FirstSteps({ receivers, newest, registration }: FirstStepsProps) {
  const { steps } = receiverTexts;
  const { isAdded, isTested, isReal } = judgeSteps({ receivers, newest });
  const [testing, setTesting] = useState<string>();
  const [first] = receivers;
  return (
    <section class="steps" aria-label={steps.title}>
      <h2>{isAdded ? (isReal ? steps.arrived : steps.goesOn) : steps.title}</h2>
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
      {isReal && (
        <p>
          <Link href="/console/deliveries">{steps.see}</Link>
        </p>
      )}
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

/** Registers a receiver. Its form is in a dialog or in the page; what follows is in dialogs. */
function useRegistration() {
  // A second click, or a repeat after no answer, registers nothing twice.
  const [key, setKey] = useState(newIdempotencyKey);
  const register = useChange(({ maxRetryHours, ...input }: ReceiverChange) => {
    const body = { ...input, ...(maxRetryHours != null && { maxRetryHours }) };
    return api.POST('/api/public/webhooks', { body, params: { header: { 'Idempotency-Key': key } } });
  });
  return {
    register,
    end() {
      register.reset();
      setKey(newIdempotencyKey());
    },
  };
}
type Registration = ReturnType<typeof useRegistration>;

type NewReceiverFormProps = { readonly registration: Registration; readonly isInPage?: boolean };

/** The form of a new receiver. */
function NewReceiverForm({ registration: { register }, isInPage = false }: NewReceiverFormProps) {
  const { form } = receiverTexts;
  const otherUrls = useOtherUrls();
  return (
    <ReceiverForm
      submitText={form.submit}
      isSaving={register.isPending}
      error={register.error}
      onSubmit={register.mutate}
      otherUrls={otherUrls}
      isInPage={isInPage}
    />
  );
}

type RegisteredProps = {
  readonly registration: Registration;
  readonly onClose: () => void;
};

/** What follows when a receiver was registered: its secret, then its first test. */
function Registered({ registration: { register }, onClose }: RegisteredProps) {
  const { secret } = receiverTexts;
  const [isKept, setKept] = useState(false);
  if (!register.data) return null;
  if (isKept) return <TestDialog id={register.data.id} onClose={onClose} />;
  if ('secret' in register.data) {
    const onKept = () => {
      setKept(true);
    };
    return <SecretOnce secret={register.data.secret} onClose={onClose} onKept={onKept} />;
  }
  return (
    <Dialog title={secret.title} onClose={onClose}>
      <p>{secret.hidden}</p>
    </Dialog>
  );
}
