import { useState } from 'preact/hooks';
import { api, type Schemas } from '../api/client.ts';
import { newIdempotencyKey } from '../api/idempotency-key.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { useChange } from './queries.ts';
import { fromLocalInput, judgeReplay, toLocalInput } from './replay-range.ts';

const STATUSES = ['failed', 'canceled', 'delivered'] as const;
type Status = (typeof STATUSES)[number];
const DAY_MS = 86_400_000;

type ReplayDialogProps = {
  readonly receiver: Schemas['Receiver'];
  readonly onClose: () => void;
  readonly onStarted: (replayId: string) => void;
};

/** Starts a replay of a time range. */
export function ReplayDialog({ receiver: { id }, onClose, onStarted }: ReplayDialogProps) {
  const texts = receiverTexts.replay;
  const [since, setSince] = useState(() => toLocalInput(Date.now() - DAY_MS));
  const [until, setUntil] = useState('');
  const [statuses, setStatuses] = useState<readonly Status[]>(['failed', 'canceled']);
  const [key] = useState(newIdempotencyKey);
  const problem = judgeReplay(since, until, statuses);
  const start = useChange(async () => {
    const end = fromLocalInput(until);
    const body = {
      since: fromLocalInput(since) ?? '',
      status: [...statuses],
      ...(end !== undefined && { until: end }),
    };
    const params = { path: { id }, header: { 'Idempotency-Key': key } };
    const replay = await api.POST('/api/public/webhooks/{id}/replay', { params, body });
    onStarted(replay.id);
    onClose();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (problem === undefined) start.mutate(undefined);
  };
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.intro}</p>
        <div class="pair">
          <Field label={texts.since}>
            {(ids) => (
              <input
                {...ids}
                type="datetime-local"
                autoFocus
                value={since}
                onInput={({ currentTarget }) => {
                  setSince(currentTarget.value);
                }}
              />
            )}
          </Field>
          <Field label={texts.until} hint={texts.untilHint}>
            {(ids) => (
              <input
                {...ids}
                type="datetime-local"
                value={until}
                onInput={({ currentTarget }) => {
                  setUntil(currentTarget.value);
                }}
              />
            )}
          </Field>
        </div>
        <fieldset>
          <legend>{texts.statuses}</legend>
          {STATUSES.map((status) => (
            <label class="check">
              <input
                type="checkbox"
                checked={statuses.includes(status)}
                onChange={({ currentTarget: { checked } }) => {
                  setStatuses(STATUSES.filter((each) => (each === status ? checked : statuses.includes(each))));
                }}
              />{' '}
              {deliveryTexts.statuses[status]}
            </label>
          ))}
        </fieldset>
        {problem !== undefined && (
          <p class="hint hint-bad" role="alert">
            {problem}
          </p>
        )}
        {start.error && <Problem error={start.error} />}
        <footer class="dialog-foot">
          <button type="submit" class="button button-main" disabled={problem !== undefined || start.isPending}>
            {texts.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
