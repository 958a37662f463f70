import { useState } from 'preact/hooks';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import type { Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { AddReceiver } from './add-receiver.tsx';
import { useNewestDeliveries, useReceivers } from './queries.ts';
import { ReceiverRow } from './receiver-row.tsx';
import { seenOf } from './receiver-state.ts';

const LIMIT = 10;

/** Every receiver of the workspace, and how each does. */
export function ReceiversPage() {
  const receivers = useReceivers();
  useActivity();
  const newest = useNewestDeliveries().data?.deliveries ?? [];
  const mayWrite = useMayWrite();
  const [isAdding, setAdding] = useState(false);
  const addButton = mayWrite && (
    <button
      type="button"
      class="button button-main"
      disabled={(receivers.data?.webhooks.length ?? 0) >= LIMIT}
      onClick={() => {
        setAdding(true);
      }}
    >
      {receiverTexts.add}
    </button>
  );
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{receiverTexts.title}</h1>
          {receivers.data && <p class="quiet">{receiverTexts.limit(receivers.data.webhooks.length)}</p>}
        </div>
        {addButton}
      </header>
      <Loaded of={receivers}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <div class="empty">
              <h2>{receiverTexts.emptyTitle}</h2>
              <p>{receiverTexts.empty}</p>
            </div>
          ) : (
            <ReceiverTable receivers={webhooks} newest={newest} />
          )
        }
      </Loaded>
      {isAdding && (
        <AddReceiver
          onClose={() => {
            setAdding(false);
          }}
        />
      )}
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
