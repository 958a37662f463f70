import { useState } from 'preact/hooks';
import { useMayLock } from '../access/access.ts';
import { api, type Schemas } from '../api/client.ts';
import { cutUrl } from '../text/foreign-text.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { texts } from '../texts/texts.ts';
import { exactTime } from '../time/time-text.ts';
import { Dialog, announce } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { useChange, useOtherUrls, useRemoval } from './queries.ts';
import { type ReceiverChange, ReceiverForm } from './receiver-form.tsx';
import type { OpenReplay } from './replay-of-list.tsx';
import { SecretOnce } from './secret-once.tsx';
import { TestDialog } from './test-dialog.tsx';

type ReceiverActionsProps = {
  readonly receiver: Schemas['Receiver'];
  readonly onReplay: OpenReplay;
  readonly onRemoved: () => void;
};

/** What was pending when a receiver was disabled was accepted at most so long before. */
const OLDEST_PENDING_MS = 5 * 86_400_000;

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
  /** Since when there may be something that it missed, once it has been enabled again. */
  const [missedSince, setMissedSince] = useState<number>();
  const offerReplay = () => {
    if (receiver.disabledAt !== undefined) setMissedSince(Date.parse(receiver.disabledAt) - OLDEST_PENDING_MS);
  };
  const enable = useChange(async () => {
    await api.PATCH('/api/public/webhooks/{id}', { params: { path: { id } }, body: { enabled: true } });
    announce(receiverTexts.enabled);
    offerReplay();
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
      {enabled && missedSince !== undefined && (
        <p class="notice missed">
          {receiverTexts.missed}{' '}
          <button
            type="button"
            class="button"
            onClick={() => {
              setMissedSince(undefined);
              onReplay({}, missedSince);
            }}
          >
            {receiverTexts.replayMissed}
          </button>
        </p>
      )}
      {open === 'test' && <TestDialog id={id} onClose={close} />}
      {open === 'rotate' && <RotateDialog id={id} onClose={close} />}
      {open === 'edit' && <EditDialog receiver={receiver} onClose={close} />}
      {open === 'disable' && <DisableDialog id={id} onClose={close} />}
      {(open === 'lock' || open === 'pause') && <WithholdDialog id={id} by={open} onClose={close} />}
      {(open === 'unlock' || open === 'resume') && (
        <LiftDialog id={id} by={open} onClose={close} onUnlocked={offerReplay} />
      )}
      {open === 'remove' && <RemoveDialog receiver={receiver} onClose={close} onRemoved={onRemoved} />}
    </div>
  );
}

type EditDialogProps = { readonly receiver: Schemas['Receiver']; readonly onClose: () => void };

/** Changes a receiver. A url that stays isn't sent: a new one would forget the failures. */
function EditDialog({ receiver, onClose }: EditDialogProps) {
  const { id, url: formerUrl } = receiver;
  const { form, saved } = receiverTexts;
  const otherUrls = useOtherUrls(id);
  const edit = useChange(async ({ url, ...input }: ReceiverChange) => {
    const body = { ...input, ...(url !== formerUrl && { url }) };
    await api.PATCH('/api/public/webhooks/{id}', { params: { path: { id } }, body });
    announce(saved);
    onClose();
  });
  return (
    <Dialog title={form.editTitle} onClose={onClose}>
      <ReceiverForm
        receiver={receiver}
        submitText={texts.save}
        isSaving={edit.isPending}
        error={edit.error}
        onSubmit={edit.mutate}
        otherUrls={otherUrls}
      />
      <p class="quiet">{form.newUrl}</p>
    </Dialog>
  );
}

/** Disables a receiver, after saying what that means. */
function DisableDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { disable: texts, disabled, actions } = receiverTexts;
  const disable = useChange(async () => {
    await api.PATCH('/api/public/webhooks/{id}', { params: { path: { id } }, body: { enabled: false } });
    announce(disabled);
    onClose();
  });
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>{texts.intro}</p>
      {disable.error && <Problem error={disable.error} />}
      <footer class="dialog-foot">
        <button
          type="button"
          class="button button-bad"
          disabled={disable.isPending}
          onClick={() => {
            disable.mutate(undefined);
          }}
        >
          {actions.disable}
        </button>
      </footer>
    </Dialog>
  );
}

const USUAL_S = 86_400;

/** Makes a new signing secret. How long the old one stays follows from what became of it. */
function RotateDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
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

type RemoveDialogProps = {
  readonly receiver: Schemas['Receiver'];
  readonly onClose: () => void;
  readonly onRemoved: () => void;
};

/** Removes a receiver, once its host has been typed. */
function RemoveDialog({ receiver: { id, url }, onClose, onRemoved }: RemoveDialogProps) {
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

// For operators alone: the service refuses any link but one that an operator made.

type DialogOf<Act> = { readonly id: string; readonly by: Act; readonly onClose: () => void };

/** Locks or pauses a receiver, which its customer can't undo, with a reason that he reads. */
function WithholdDialog({ id, by, onClose }: DialogOf<'lock' | 'pause'>) {
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
function LiftDialog({
  id,
  by,
  onClose,
  onUnlocked,
}: DialogOf<'unlock' | 'resume'> & { readonly onUnlocked: () => void }) {
  const { enabled, resumed, actions } = receiverTexts;
  const texts = receiverTexts[by];
  const lift = useChange(async () => {
    const path = by === 'unlock' ? '/api/public/webhooks/{id}/lock' : '/api/public/webhooks/{id}/pause';
    await api.DELETE(path, { params: { path: { id } } });
    announce(by === 'unlock' ? enabled : resumed);
    if (by === 'unlock') onUnlocked();
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
