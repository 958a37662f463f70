import { useRef, useState } from 'preact/hooks';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { announce } from '../ui/announce.tsx';
import { useRedeliver } from './queries.ts';

type SelectionBarProps = {
  readonly ids: readonly string[];
  readonly onDone: () => void;
  /** Selects all that the list shows; absent: they are. */
  readonly onAll?: (() => void) | undefined;
};

/** What can be done with the selected deliveries. It lies above the page, so that no row moves under the pointer. */
export function SelectionBar({ ids, onDone, onAll }: SelectionBarProps) {
  const redeliver = useRedeliver();
  const [asked, setAsked] = useState(0);
  const stop = useRef<AbortController>();
  const start = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    const results = await redeliver.mutateAsync({ ids, onProgress: setAsked, signal });
    const refused = results.filter((result) => result.status === 'rejected');
    const done = results.length - refused.length;
    const why = refused[0]?.reason instanceof Error ? refused[0].reason.message : '';
    announce(refused.length > 0 ? deliveryTexts.someRefused(refused.length, why) : deliveryTexts.redelivered(done));
    onDone();
  };
  return (
    <div class="selection-bar" role="group" aria-label={deliveryTexts.selection}>
      <span role="status">
        {redeliver.isPending ? deliveryTexts.askedFor(asked, ids.length) : deliveryTexts.selected(ids.length)}
      </span>
      {redeliver.isPending ? (
        <button type="button" class="button" onClick={() => stop.current?.abort()}>
          {deliveryTexts.stop}
        </button>
      ) : (
        <>
          <button type="button" class="button button-main" onClick={() => void start()}>
            {deliveryTexts.redeliverMany}
          </button>
          {onAll && (
            <button type="button" class="button" onClick={onAll}>
              {deliveryTexts.selectShown}
            </button>
          )}
          <button type="button" class="link-button" onClick={onDone}>
            {deliveryTexts.unselect}
          </button>
        </>
      )}
    </div>
  );
}
