import { useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { newIdempotencyKey } from '../api/idempotency-key.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useChange, useOtherUrls } from './queries.ts';
import { NO_ADVANCED } from './advanced-input.ts';
import { ReceiverForm, type ReceiverChange, type ReceiverInput } from './receiver-form.tsx';
import { SecretOnce } from './secret-once.tsx';
import { TestDialog } from './test-dialog.tsx';

const EMPTY: ReceiverInput = { url: '', description: '', events: [] };

/** Registers a receiver, shows its secret, then offers its first test. */
export function AddReceiver({ onClose }: { readonly onClose: () => void }) {
  const { form, secret } = receiverTexts;
  // A second click, or a repeat after no answer, registers nothing twice.
  const [key] = useState(newIdempotencyKey);
  const register = useChange(({ maxRetryHours, ...input }: ReceiverChange) => {
    const body = { ...input, ...(maxRetryHours != null && { maxRetryHours }) };
    return api.POST('/api/public/webhooks', { body, params: { header: { 'Idempotency-Key': key } } });
  });
  const otherUrls = useOtherUrls();
  const [isKept, setKept] = useState(false);
  if (register.data && isKept) return <TestDialog id={register.data.id} onClose={onClose} />;
  if (register.data && 'secret' in register.data) {
    const onKept = () => {
      setKept(true);
    };
    return <SecretOnce secret={register.data.secret} onClose={onClose} onKept={onKept} />;
  }
  if (register.data) {
    return (
      <Dialog title={secret.title} onClose={onClose}>
        <p>{secret.hidden}</p>
      </Dialog>
    );
  }
  return (
    <Dialog title={form.addTitle} onClose={onClose}>
      <ReceiverForm
        first={EMPTY}
        firstAdvanced={NO_ADVANCED}
        submitText={form.submit}
        isSaving={register.isPending}
        error={register.error}
        onSubmit={register.mutate}
        otherUrls={otherUrls}
      />
    </Dialog>
  );
}
