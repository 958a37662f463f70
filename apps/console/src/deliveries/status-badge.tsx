import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { Badge, type Tone } from '../ui/badge.tsx';

type Status = Schemas['Delivery']['status'];

const TONES: Readonly<Record<Status, Tone>> = { delivered: 'good', failed: 'bad', pending: 'wait', canceled: 'off' };

export function StatusBadge({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{deliveryTexts.statuses[status]}</Badge>;
}
