import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { announce } from '../ui/announce.tsx';
import { Problem } from '../ui/problem.tsx';
import { useRedeliver } from './queries.ts';

/** Asks for one more attempt now. */
export function RedeliverButton({ delivery }: { readonly delivery: Pick<Schemas['Delivery'], 'id' | 'event'> }) {
  const redeliver = useRedeliver();
  const start = async () => {
    const [result] = await redeliver.mutateAsync({ ids: [delivery.id] });
    if (result?.status === 'fulfilled') announce(deliveryTexts.redelivered(1));
  };
  const refused = redeliver.data?.find((result) => result.status === 'rejected');
  return (
    <div class="action">
      <button
        type="button"
        // Another test says more of a receiver than the same one again.
        class={delivery.event === 'webhook.test' ? 'button' : 'button button-main'}
        disabled={redeliver.isPending}
        title={deliveryTexts.redeliverHint}
        onClick={() => void start()}
      >
        {redeliver.isPending ? deliveryTexts.redelivering : deliveryTexts.redeliver}
      </button>
      {refused && <Problem error={refused.reason as unknown} />}
    </div>
  );
}
