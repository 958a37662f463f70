import { useActivity } from '../api/activity.ts';
import { DeliveryList } from '../deliveries/delivery-list.tsx';
import { useReceivers } from '../deliveries/queries.ts';
import { cutUrl } from '../text/foreign-text.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { ReplayOfList } from './replay-of-list.tsx';

/** A longer name would widen the list of the choices. */
const TITLE_LENGTH = 60;

/** Every delivery of the workspace: to its receivers, and to callbacks. */
export function DeliveriesPage() {
  useActivity();
  const receivers = useReceivers().data?.webhooks ?? [];
  return (
    <>
      <header class="page-head">
        <h1>{deliveryTexts.allTitle}</h1>
      </header>
      <ReplayOfList receivers={receivers}>
        {(onRedeliverAll) => (
          <DeliveryList
            endpoints={new Map(receivers.map((receiver) => [receiver.id, receiver]))}
            choices={receivers.map(({ id, url, description }) => [id, titleOf(url, description)])}
            onRedeliverAll={onRedeliverAll}
          />
        )}
      </ReplayOfList>
    </>
  );
}

function titleOf(url: string, description: string): string {
  const { host, path } = cutUrl(url);
  const title = description === '' ? host + path : `${host}${path}, ${description}`;
  return title.length > TITLE_LENGTH ? `${title.slice(0, TITLE_LENGTH)}…` : title;
}
