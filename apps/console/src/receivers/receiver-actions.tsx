import { useState } from 'preact/hooks';
import { api, type Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Problem } from '../ui/problem.tsx';
import { useMayLock } from '../access/access.ts';
import type { Filter } from '../deliveries/filter.ts';
import { DisableDialog } from './disable-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { LiftDialog, WithholdDialog } from './lock-dialogs.tsx';
import { useChange } from './queries.ts';
import { RemoveDialog } from './remove-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';

type ReceiverActionsProps = {
  readonly receiver: Schemas['Receiver'];
  readonly onReplay: (filter: Filter) => void;
  readonly onRemoved: () => void;
};

/** What can be done with a receiver. Each but enabling asks first. Of a locked one nothing is offered that is refused. */
export function ReceiverActions({ receiver, onReplay, onRemoved }: ReceiverActionsProps) {
  const texts = receiverTexts.actions;
  const { id, enabled } = receiver;
  const isLocked = receiver.disabledReason === 'locked';
  const isPaused = receiver.pausedAt !== undefined;
  const mayLock = useMayLock();
  const [open, setOpen] = useState<Exclude<keyof typeof texts, 'label' | 'enable' | 'replay'>>();
  const close = () => {
    setOpen(undefined);
  };
  const enable = useChange(async () => {
    await api.PATCH('/api/public/webhooks/{id}', { params: { path: { id } }, body: { enabled: true } });
    announce(receiverTexts.enabled);
  });
  const button = (name: NonNullable<typeof open>, look = 'button') => (
    <button
      type="button"
      class={look}
      onClick={() => {
        setOpen(name);
      }}
    >
      {texts[name]}
    </button>
  );
  return (
    <div class="actions" role="group" aria-label={texts.label}>
      {!enabled && !isLocked && (
        <button
          type="button"
          class="button button-main"
          disabled={enable.isPending}
          onClick={() => {
            enable.mutate(undefined);
          }}
        >
          {texts.enable}
        </button>
      )}
      {isLocked && mayLock && button('unlock', 'button button-main')}
      {isPaused && mayLock && button('resume', 'button button-main')}
      {!isLocked && button('test')}
      {enabled && (
        <button
          type="button"
          class="button"
          onClick={() => {
            onReplay({});
          }}
        >
          {texts.replay}
        </button>
      )}
      {button('rotate')}
      {!isLocked && button('edit')}
      {enabled && button('disable')}
      {enabled && !isPaused && mayLock && button('pause')}
      {!isLocked && mayLock && button('lock', 'button button-bad')}
      {button('remove', 'button button-bad')}
      {enable.error && <Problem error={enable.error} />}
      {open === 'test' && <TestDialog id={id} onClose={close} />}
      {open === 'rotate' && <RotateDialog id={id} onClose={close} />}
      {open === 'edit' && <EditDialog receiver={receiver} onClose={close} />}
      {open === 'disable' && <DisableDialog id={id} onClose={close} />}
      {(open === 'lock' || open === 'pause') && <WithholdDialog id={id} by={open} onClose={close} />}
      {(open === 'unlock' || open === 'resume') && <LiftDialog id={id} by={open} onClose={close} />}
      {open === 'remove' && <RemoveDialog receiver={receiver} onClose={close} onRemoved={onRemoved} />}
    </div>
  );
}
