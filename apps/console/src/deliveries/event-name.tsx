import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';

type EventNameProps = {
  readonly event: Schemas['Delivery']['event'] | Schemas['FailedDelivery']['event'];
  readonly sampleOf?: Schemas['Delivery']['sampleOf'] | undefined;
};

/** What a delivery is about. */
export function EventName({ event, sampleOf }: EventNameProps) {
  return (
    <span class="event">
      {sampleOf ?? event}
      {sampleOf !== undefined && <span class="tag">{deliveryTexts.sample}</span>}
    </span>
  );
}
