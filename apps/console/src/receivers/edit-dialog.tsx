import { api, type Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { texts } from '../texts/texts.ts';
import { announce } from '../ui/announce.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useChange, useOtherUrls } from './queries.ts';
import { toAdvancedInput } from './advanced-input.ts';
import { ReceiverForm, type ReceiverChange } from './receiver-form.tsx';

type EditDialogProps = { readonly receiver: Schemas['Receiver']; readonly onClose: () => void };

/** Changes a receiver. A url that stays isn't sent: a new one would forget the failures. */
export function EditDialog({ receiver, onClose }: EditDialogProps) {
  const { id, url: formerUrl, description, events } = receiver;
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
        first={{ url: formerUrl, description, events }}
        firstAdvanced={toAdvancedInput(receiver)}
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
