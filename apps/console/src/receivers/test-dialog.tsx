import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas } from '../api/client.ts';
import { explainAttempt, explainCode, explainNote } from '../deliveries/explain-attempt.ts';
import { TASK_EVENTS } from '../deliveries/list-state.ts';
import { RotatedNote, VerifyLink } from '../deliveries/parts.tsx';
import { statusText } from '../text/http-text.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { latencyText } from '../time/time-text.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { ForeignText, Sentence, wordsOf } from '../ui/words.tsx';
import { useChange } from './queries.ts';

type EventName = Schemas['EventName'];
const EVENTS: readonly EventName[] = ['webhook.test', ...TASK_EVENTS];

/** Sends a test event and shows what came of it. */
export function TestDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const texts = receiverTexts.test;
  const [event, setEvent] = useState<EventName>('webhook.test');
  const test = useChange(() =>
    api.POST('/api/public/webhooks/{id}/test', { params: { path: { id } }, body: { event } }),
  );
  const submit = (submitted: SubmitEvent) => {
    submitted.preventDefault();
    test.mutate(undefined);
  };
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={texts.event} hint={texts.hint}>
          {(ids) => (
            <select
              {...ids}
              autoFocus
              value={event}
              onChange={({ currentTarget }) => {
                setEvent(currentTarget.value as EventName);
              }}
            >
              {EVENTS.map((name) => (
                <option value={name}>{name === 'webhook.test' ? name : texts.sample(name)}</option>
              ))}
            </select>
          )}
        </Field>
        <footer class="dialog-foot">
          <button type="submit" class="button button-main" disabled={test.isPending}>
            {test.isPending ? texts.sending : texts.send}
          </button>
        </footer>
      </form>
      <div aria-live="polite">
        {test.error && <Problem error={test.error} />}
        {test.data && <Outcome outcome={test.data} />}
        {test.data?.receiverStatus === 401 && <RotatedNote receiverId={id} />}
      </div>
    </Dialog>
  );
}

function Outcome({ outcome }: { readonly outcome: Schemas['TestOutcome'] }) {
  const texts = receiverTexts.test;
  const took = outcome.durationMs === undefined ? '' : latencyText(outcome.durationMs);
  const { receiverStatus, error = 'connection_failed', answer } = outcome;
  const isAnswered = receiverStatus !== null;
  const explained = isAnswered ? explainAttempt({ status: receiverStatus }) : explainCode(error);
  const status = isAnswered ? statusText(receiverStatus) : wordsOf(error);
  const note = explainNote(outcome.bodyNote);
  return (
    <div class={outcome.delivered ? 'summary summary-good' : 'summary summary-bad'}>
      <p>
        <strong>
          {!isAnswered
            ? texts.unanswered(status)
            : outcome.delivered
              ? texts.delivered(status, took)
              : texts.refused(status, took)}
        </strong>
      </p>
      {explained && (
        <p>
          <Sentence text={`${explained.meaning} ${explained.action}`} />
        </p>
      )}
      {note && (
        <p class="quiet">
          <Sentence text={`${deliveryTexts.odd} ${note.meaning} ${note.action}`} />
        </p>
      )}
      {answer === undefined ? (
        isAnswered && <p class="quiet">{texts.noAnswer}</p>
      ) : (
        <pre tabIndex={0} aria-label={texts.answer}>
          <ForeignText text={answer} lines />
        </pre>
      )}
      <p>
        <Link href={`/console/deliveries/${outcome.deliveryId}`}>{texts.open}</Link>
        {receiverStatus === 401 && (
          <>
            {' · '}
            <VerifyLink deliveryId={outcome.deliveryId} number={1} />
          </>
        )}
      </p>
    </div>
  );
}
