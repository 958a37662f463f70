import { useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { exactTime } from '../time/time-text.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { useChange } from './queries.ts';
import { SecretOnce } from './secret-once.tsx';

const USUAL_S = 86_400;

/** Makes a new signing secret, and says how long the old one stays. */
export function RotateDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const texts = receiverTexts.rotate;
  const [overlapSeconds, setOverlap] = useState(USUAL_S);
  const rotate = useChange(() =>
    api.POST('/api/public/webhooks/{id}/secret/rotate', { params: { path: { id } }, body: { overlapSeconds } }),
  );
  if (rotate.data && 'secret' in rotate.data) {
    const { secret, overlapEndsAt } = rotate.data;
    return (
      <Dialog title={receiverTexts.secret.title} onClose={onClose}>
        <SecretOnce secret={secret} onDone={onClose}>
          <p>{overlapEndsAt == null ? texts.endsNow : texts.endsAt(exactTime(Date.parse(overlapEndsAt)))}</p>
        </SecretOnce>
      </Dialog>
    );
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    rotate.mutate(undefined);
  };
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.intro}</p>
        <Field label={texts.overlap} hint={overlapSeconds === 0 ? texts.noOverlap : undefined}>
          {(ids) => (
            <select
              {...ids}
              autoFocus
              value={String(overlapSeconds)}
              onChange={({ currentTarget }) => {
                setOverlap(Number(currentTarget.value));
              }}
            >
              {texts.overlaps.map(([seconds, title]) => (
                <option value={String(seconds)}>{title}</option>
              ))}
            </select>
          )}
        </Field>
        {rotate.error && <Problem error={rotate.error} />}
        <footer class="dialog-foot">
          <button type="submit" class="button button-main" disabled={rotate.isPending}>
            {texts.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
