import { useState } from 'preact/hooks';
import { api, read, type Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { useChange } from './queries.ts';

// For operators alone: the service refuses any link but one that an operator made.

type LockDialogProps = { readonly id: string; readonly onClose: () => void };

/** Disables a receiver so that its customer can't enable it, with a reason that he reads. */
export function LockDialog({ id, onClose }: LockDialogProps) {
  const { lock: texts, locked, actions } = receiverTexts;
  const [reason, setReason] = useState('');
  const lock = useChange(async () => {
    const given = reason.trim();
    await read<Schemas['Receiver']>(
      api.POST('/api/public/webhooks/{id}/lock', {
        params: { path: { id } },
        body: given === '' ? {} : { reason: given },
      }),
    );
    announce(locked);
    onClose();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    lock.mutate(undefined);
  };
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.intro}</p>
        <Field label={texts.reason} hint={texts.reasonHint}>
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
        {lock.error && <Problem error={lock.error} />}
        <footer class="dialog-foot">
          <button type="submit" class="button button-bad" disabled={lock.isPending}>
            {actions.lock}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Lifts a lock, after saying that this enables the receiver. */
export function UnlockDialog({ id, onClose }: LockDialogProps) {
  const { unlock: texts, enabled, actions } = receiverTexts;
  const unlock = useChange(async () => {
    await read<Schemas['Receiver']>(api.DELETE('/api/public/webhooks/{id}/lock', { params: { path: { id } } }));
    announce(enabled);
    onClose();
  });
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>{texts.intro}</p>
      {unlock.error && <Problem error={unlock.error} />}
      <footer class="dialog-foot">
        <button
          type="button"
          class="button button-main"
          disabled={unlock.isPending}
          onClick={() => {
            unlock.mutate(undefined);
          }}
        >
          {actions.unlock}
        </button>
      </footer>
    </Dialog>
  );
}
