import { deliveryTexts } from '../texts/delivery-texts.ts';
import { announce } from '../ui/announce.tsx';
import { useRedeliver } from './queries.ts';

type SelectionBarProps = { readonly ids: readonly string[]; readonly onDone: () => void };

/** What can be done with the selected deliveries. */
export function SelectionBar({ ids, onDone }: SelectionBarProps) {
  const redeliver = useRedeliver();
  const start = async () => {
    const results = await redeliver.mutateAsync(ids);
    const refused = results.filter((result) => result.status === 'rejected');
    const done = results.length - refused.length;
    const why = refused[0]?.reason instanceof Error ? refused[0].reason.message : '';
    announce(refused.length > 0 ? deliveryTexts.someRefused(refused.length, why) : deliveryTexts.redelivered(done));
    onDone();
  };
  return (
    <div class="selection-bar">
      <span>{deliveryTexts.selected(ids.length)}</span>
      <button type="button" class="button" disabled={redeliver.isPending} onClick={() => void start()}>
        {redeliver.isPending ? deliveryTexts.redelivering : deliveryTexts.redeliverMany}
      </button>
      <button type="button" class="link-button" onClick={onDone}>
        {deliveryTexts.filters.clear}
      </button>
    </div>
  );
}
