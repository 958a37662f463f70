import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { texts } from '../texts/texts.ts';
import { Time } from '../ui/time.tsx';
import { Badge, type Tone } from '../ui/words.tsx';
import { useReceiverOf } from './queries.ts';

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

type Status = Schemas['Delivery']['status'];

const TONES: Readonly<Record<Status, Tone>> = { delivered: 'good', failed: 'bad', pending: 'wait', canceled: 'off' };

export function StatusBadge({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{deliveryTexts.statuses[status]}</Badge>;
}

/** Says that pages were made without the history, so that deliveries may be missing in them. */
export function HistoryAway({ pages }: { readonly pages: readonly Schemas['DeliveryPage'][] }) {
  if (!pages.some(({ historyUnavailable }) => historyUnavailable)) return null;
  return (
    <p class="notice" role="status">
      {deliveryTexts.historyAway}
    </p>
  );
}

type MoreRowsProps = { readonly isLoading: boolean; readonly load: () => void };

/** Loads the next page when it comes into sight. It is a button too, for the keyboard. */
export function MoreRows({ isLoading, load }: MoreRowsProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isLoading || ref.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) load();
      },
      { rootMargin: '400px' },
    );
    observer.observe(ref.current);
    return () => {
      observer.disconnect();
    };
  });
  return (
    <button type="button" ref={ref} class="button more" disabled={isLoading} onClick={load}>
      {isLoading ? texts.loading : deliveryTexts.more}
    </button>
  );
}

/** Beside a 401: that the secret of the receiver was rotated, while that may be why. */
export function RotatedNote({ receiverId }: { readonly receiverId: string | null }) {
  const endsAt = useReceiverOf(receiverId).data?.secretOverlapEndsAt;
  if (endsAt === undefined) return null;
  return (
    <p>
      {deliveryTexts.rotated} <Time at={endsAt} />.
    </p>
  );
}

/** Leads to the page that verifies signatures, filled with the request of an attempt. */
export function VerifyLink({ deliveryId, number }: { readonly deliveryId: string; readonly number: number }) {
  return <Link href={`/console/verify?delivery=${deliveryId}&attempt=${number}`}>{deliveryTexts.verify}</Link>;
}
