import { api } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/problem.tsx';
import { useChange } from './queries.ts';

/** Disables a receiver, after saying what that means. */
export function DisableDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
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
