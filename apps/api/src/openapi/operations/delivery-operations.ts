import { DeliveryView, DeliveryWithAttempts } from '../../deliveries/delivery-view.ts';
import { NoBody } from '../../http/read-body.ts';
import { ReplayView } from '../../replays/replay-view.ts';
import type { Operation } from '../operation.ts';
import { OfDelivery, OfReplay } from './params.ts';

const ofDelivery = { tag: 'Deliveries', scope: 'webhooks', params: OfDelivery } as const;
const ofReplay = { tag: 'Deliveries', scope: 'webhooks', params: OfReplay } as const;

export const DELIVERY_OPERATIONS: readonly Operation[] = [
  {
    ...ofDelivery,
    id: 'readDelivery',
    method: 'get',
    path: '/api/public/deliveries/{id}',
    summary: 'Read a delivery with its attempts',
    answers: [{ status: 200, description: 'The delivery.', schema: DeliveryWithAttempts }],
    problems: ['delivery_not_found'],
  },
  {
    ...ofDelivery,
    id: 'redeliver',
    method: 'post',
    path: '/api/public/deliveries/{id}/redeliver',
    summary: 'Attempt a delivery once more, now',
    description:
      'Under the same delivery id, with the same bytes. Once this is answered the attempt is made, whatever crashes.',
    body: { schema: NoBody, isRequired: false },
    answers: [{ status: 202, description: 'The delivery, with one more redelivery pending.', schema: DeliveryView }],
    problems: ['delivery_not_found', 'receiver_not_found', 'receiver_disabled'],
  },
  {
    ...ofReplay,
    id: 'readReplay',
    method: 'get',
    path: '/api/public/replays/{id}',
    summary: 'Read how far a replay is',
    answers: [{ status: 200, description: 'The replay.', schema: ReplayView }],
    problems: ['replay_not_found'],
  },
  {
    ...ofReplay,
    id: 'stopReplay',
    method: 'delete',
    path: '/api/public/replays/{id}',
    summary: 'Stop a replay',
    description: 'What it has set pending stays so.',
    answers: [{ status: 200, description: 'The replay as it ended.', schema: ReplayView }],
    problems: ['replay_not_found'],
  },
];
