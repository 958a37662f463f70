import { useState } from 'preact/hooks';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import type { Schemas } from '../api/client.ts';
import { useReceivers } from '../deliveries/queries.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { NewReceiverForm, Registered, useRegistration } from './add-receiver.tsx';
import { FirstSteps, judgeSteps } from './first-steps.tsx';
import { useNewestDeliveries } from './queries.ts';
import { ReceiverRow } from './receiver-row.tsx';
import { seenOf } from './receiver-state.ts';

const LIMIT = 10;

/** Every receiver of the workspace, and how each does. */
export function ReceiversPage() {
  const receivers = useReceivers();
  useActivity();
  const deliveries = useNewestDeliveries();
  const newest = deliveries.data?.deliveries ?? [];
  const mayWrite = useMayWrite();
  const registration = useRegistration();
  const [isAdding, setAdding] = useState(false);
  const known = { receivers: receivers.data?.webhooks ?? [], newest };
  const isNew = deliveries.data !== undefined && !judgeSteps(known).isReal;
  const count = known.receivers.length;
  const close = () => {
    setAdding(false);
    registration.end();
  };
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{receiverTexts.title}</h1>
          {receivers.data && <p class="quiet">{receiverTexts.limit(count)}</p>}
        </div>
        {mayWrite && count > 0 && (
          <button
            type="button"
            class="button button-main"
            disabled={count >= LIMIT}
            onClick={() => {
              setAdding(true);
            }}
          >
            {receiverTexts.add}
          </button>
        )}
      </header>
      <Loaded of={receivers}>
        {({ webhooks }) => (
          <>
            {(webhooks.length === 0 || isNew) && (
              <FirstSteps {...known} registration={mayWrite ? registration : undefined} />
            )}
            {webhooks.length > 0 && <ReceiverTable receivers={webhooks} newest={newest} />}
          </>
        )}
      </Loaded>
      {isAdding && !registration.register.data && (
        <Dialog title={receiverTexts.form.addTitle} onClose={close}>
          <NewReceiverForm registration={registration} />
        </Dialog>
      )}
      {registration.register.data && <Registered registration={registration} onClose={close} />}
    </>
  );
}

type ReceiverTableProps = {
  readonly receivers: readonly Schemas['Receiver'][];
  readonly newest: readonly Schemas['Delivery'][];
};

function ReceiverTable({ receivers, newest }: ReceiverTableProps) {
  const { headings, title } = receiverTexts;
  return (
    <table class="rows receivers" aria-label={title}>
      <thead>
        <tr>
          <th scope="col">{headings.receiver}</th>
          <th scope="col">{headings.state}</th>
          <th scope="col">{headings.day}</th>
          <th scope="col" class="col-number">
            {headings.p95}
          </th>
          <th scope="col">{headings.last}</th>
          <th scope="col" class="col-number">
            {headings.waiting}
          </th>
        </tr>
      </thead>
      <tbody>
        {receivers.map((receiver) => (
          <ReceiverRow
            key={receiver.id}
            receiver={receiver}
            seen={seenOf(newest.filter(({ receiverId }) => receiverId === receiver.id))}
          />
        ))}
      </tbody>
    </table>
  );
}
