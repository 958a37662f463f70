import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';

/** Says that pages were made without the history, so that deliveries may be missing in them. */
export function HistoryAway({ pages }: { readonly pages: readonly Schemas['DeliveryPage'][] }) {
  if (!pages.some(({ historyUnavailable }) => historyUnavailable)) return null;
  return (
    <p class="notice" role="status">
      {deliveryTexts.historyAway}
    </p>
  );
}
