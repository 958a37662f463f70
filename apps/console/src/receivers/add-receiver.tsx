import { useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { newIdempotencyKey } from '../api/create-api.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useChange, useOtherUrls } from './queries.ts';
import { ReceiverForm, type ReceiverChange } from './receiver-form.tsx';
import { SecretOnce } from './secret-once.tsx';
import { TestDialog } from './test-dialog.tsx';

/** Registers a receiver. Its form is in a dialog or in the page; what follows is in dialogs. */
export function useRegistration() {
  // A second click, or a repeat after no answer, registers nothing twice.
  const [key, setKey] = useState(newIdempotencyKey);
  const register = useChange(({ maxRetryHours, ...input }: ReceiverChange) => {
    const body = { ...input, ...(maxRetryHours != null && { maxRetryHours }) };
    return api.POST('/api/public/webhooks', { body, params: { header: { 'Idempotency-Key': key } } });
  });
  return {
    register,
    end() {
      register.reset();
      setKey(newIdempotencyKey());
    },
  };
}
type Registration = ReturnType<typeof useRegistration>;

type NewReceiverFormProps = { readonly registration: Registration; readonly isInPage?: boolean };

/** The form of a new receiver. */
export function NewReceiverForm({ registration: { register }, isInPage = false }: NewReceiverFormProps) {
  const { form } = receiverTexts;
  const otherUrls = useOtherUrls();
  return (
    <ReceiverForm
      submitText={form.submit}
      isSaving={register.isPending}
      error={register.error}
      onSubmit={register.mutate}
      otherUrls={otherUrls}
      isInPage={isInPage}
    />
  );
}

type RegisteredProps = {
  readonly registration: Registration;
  readonly onClose: () => void;
};

/** What follows when a receiver was registered: its secret, then its first test. */
export function Registered({ registration: { register }, onClose }: RegisteredProps) {
  const { secret } = receiverTexts;
  const [isKept, setKept] = useState(false);
  if (!register.data) return null;
  if (isKept) return <TestDialog id={register.data.id} onClose={onClose} />;
  if ('secret' in register.data) {
    const onKept = () => {
      setKept(true);
    };
    return <SecretOnce secret={register.data.secret} onClose={onClose} onKept={onKept} />;
  }
  return (
    <Dialog title={secret.title} onClose={onClose}>
      <p>{secret.hidden}</p>
    </Dialog>
  );
}
