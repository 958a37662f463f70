import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client.ts';
import { cutUrl } from '../text/cut-url.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { useRemoval } from './queries.ts';

type RemoveDialogProps = {
  readonly receiver: Schemas['Receiver'];
  readonly onClose: () => void;
  readonly onRemoved: () => void;
};

/** Removes a receiver, once its host has been typed. */
export function RemoveDialog({ receiver: { id, url }, onClose, onRemoved }: RemoveDialogProps) {
  const { remove: texts, actions, removed } = receiverTexts;
  const { host } = cutUrl(url);
  const [typed, setTyped] = useState('');
  const remove = useRemoval(id, () => {
    announce(removed);
    onRemoved();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() === host) remove.mutate(undefined);
  };
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.intro}</p>
        <Field label={texts.label(host)}>
          {(ids) => (
            <input
              {...ids}
              type="text"
              class="mono"
              autoFocus
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={({ currentTarget }) => {
                setTyped(currentTarget.value);
              }}
            />
          )}
        </Field>
        {remove.error && <Problem error={remove.error} />}
        <footer class="dialog-foot">
          <button type="submit" class="button button-bad" disabled={typed.trim() !== host || remove.isPending}>
            {actions.remove}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
