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

/** Makes a new signing secret. How long the old one stays follows from what became of it. */
export function RotateDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const texts = receiverTexts.rotate;
  const [isInUse, setInUse] = useState<boolean>();
  const [overlapSeconds, setOverlap] = useState(USUAL_S);
  const [isTried, setTried] = useState(false);
  const rotate = useChange(() => {
    const body = { overlapSeconds: isInUse === true ? overlapSeconds : 0 };
    return api.POST('/api/public/webhooks/{id}/secret/rotate', { params: { path: { id } }, body });
  });
  if (rotate.data && 'secret' in rotate.data) {
    const { secret, overlapEndsAt } = rotate.data;
    return (
      <SecretOnce secret={secret} onClose={onClose}>
        <p>{overlapEndsAt == null ? texts.endsNow : texts.endsAt(exactTime(Date.parse(overlapEndsAt)))}</p>
      </SecretOnce>
    );
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setTried(true);
    if (isInUse !== undefined) rotate.mutate(undefined);
  };
  const choice = (value: boolean, label: string) => (
    <label class="check">
      <input
        type="radio"
        name="old-secret"
        autoFocus={value}
        checked={isInUse === value}
        onChange={() => {
          setInUse(value);
        }}
      />{' '}
      {label}
    </label>
  );
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.intro}</p>
        <fieldset>
          <legend>{texts.question}</legend>
          {choice(true, texts.inUse)}
          {choice(false, texts.lost)}
          {isTried && isInUse === undefined && (
            <p class="hint hint-bad" role="alert">
              {texts.choose}
            </p>
          )}
        </fieldset>
        {isInUse === false && <p class="notice">{texts.noOverlap}</p>}
        {isInUse === true && (
          <Field label={texts.overlap} hint={texts.intoOverlap}>
            {(ids) => (
              <select
                {...ids}
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
        )}
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
