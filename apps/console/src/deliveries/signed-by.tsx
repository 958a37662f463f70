import { Link } from 'wouter-preact';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { Time } from '../ui/time.tsx';
import { useReceiverOf } from './queries.ts';

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
