import { useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { useChange } from './queries.ts';

// For operators alone: the service refuses any link but one that an operator made.

type DialogOf<Act> = { readonly id: string; readonly by: Act; readonly onClose: () => void };

/** Locks or pauses a receiver, which its customer can't undo, with a reason that he reads. */
export function WithholdDialog({ id, by, onClose }: DialogOf<'lock' | 'pause'>) {
  const { locked, paused, actions, reason: reasonLabel, reasonHint } = receiverTexts;
  const texts = receiverTexts[by];
  const [reason, setReason] = useState('');
  const withhold = useChange(async () => {
    const given = reason.trim();
    await api.POST(`/api/public/webhooks/{id}/${by}`, {
      params: { path: { id } },
      body: given === '' ? {} : { reason: given },
    });
    announce(by === 'lock' ? locked : paused);
    onClose();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    withhold.mutate(undefined);
  };
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.intro}</p>
        <Field label={reasonLabel} hint={reasonHint}>
          {(ids) => (
            <input
              {...ids}
              type="text"
              autoFocus
              autocomplete="off"
              value={reason}
              onInput={({ currentTarget }) => {
                setReason(currentTarget.value);
              }}
            />
          )}
        </Field>
        {withhold.error && <Problem error={withhold.error} />}
        <footer class="dialog-foot">
          <button type="submit" class="button button-bad" disabled={withhold.isPending}>
            {actions[by]}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Lifts a lock or a pause, after saying what that does. */
export function LiftDialog({ id, by, onClose }: DialogOf<'unlock' | 'resume'>) {
  const { enabled, resumed, actions } = receiverTexts;
  const texts = receiverTexts[by];
  const lift = useChange(async () => {
    const path = by === 'unlock' ? '/api/public/webhooks/{id}/lock' : '/api/public/webhooks/{id}/pause';
    await api.DELETE(path, { params: { path: { id } } });
    announce(by === 'unlock' ? enabled : resumed);
    onClose();
  });
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>{texts.intro}</p>
      {lift.error && <Problem error={lift.error} />}
      <footer class="dialog-foot">
        <button
          type="button"
          class="button button-main"
          disabled={lift.isPending}
          onClick={() => {
            lift.mutate(undefined);
          }}
        >
          {actions[by]}
        </button>
      </footer>
    </Dialog>
  );
}
