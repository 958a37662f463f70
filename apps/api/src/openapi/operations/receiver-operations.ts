import {
  ListDeliveries,
  PatchReceiver,
  RECEIVER_LIMIT,
  RegisterReceiver,
  RequestReplay,
  RotateSecret,
} from '@herald/core';
import { DeliveryPage } from '../../deliveries/delivery-view.ts';
import { NoBody } from '../../http/read-body.ts';
import { SecretRotated } from '../../http/send-rotated-secret.ts';
import { ReceiverDeleted, ReceiverList, ReceiverView, RegisteredReceiver } from '../../receivers/receiver-view.ts';
import { TestOutcome } from '../../receivers/test-outcome-view.ts';
import { ReplayView } from '../../replays/replay-view.ts';
import type { Operation } from '../operation.ts';
import { OfReceiver } from './params.ts';

const common = { tag: 'Receivers', scope: 'webhooks' } as const;
const ofOne = { ...common, params: OfReceiver } as const;
const root = '/api/public/webhooks';

export const RECEIVER_OPERATIONS: readonly Operation[] = [
  {
    ...common,
    id: 'listReceivers',
    method: 'get',
    path: root,
    summary: 'List the receivers of the workspace',
    answers: [{ status: 200, description: 'All receivers, and all event names.', schema: ReceiverList }],
  },
  {
    ...common,
    id: 'registerReceiver',
    method: 'post',
    path: root,
    summary: 'Register a receiver',
    description: `A workspace may hold at most ${RECEIVER_LIMIT}. The signing secret is in this answer and in no other.`,
    body: { schema: RegisterReceiver, isRequired: true },
    answers: [
      {
        status: 201,
        description: 'The receiver, and its signing secret, this once.',
        schema: RegisteredReceiver,
        headers: ['location', 'cache-control'],
      },
    ],
    problems: ['receiver_limit_reached'],
  },
  {
    ...ofOne,
    id: 'readReceiver',
    method: 'get',
    path: `${root}/{id}`,
    summary: 'Read a receiver',
    answers: [{ status: 200, description: 'The receiver.', schema: ReceiverView }],
    problems: ['receiver_not_found'],
  },
  {
    ...ofOne,
    id: 'changeReceiver',
    method: 'patch',
    path: `${root}/{id}`,
    summary: 'Change a receiver',
    description: 'What is left out stays as it is. A new url forgets the failures of the old one; so does enabling.',
    body: { schema: PatchReceiver, isRequired: true },
    answers: [{ status: 200, description: 'The receiver as it is now.', schema: ReceiverView }],
    problems: ['receiver_not_found'],
  },
  {
    ...ofOne,
    id: 'removeReceiver',
    method: 'delete',
    path: `${root}/{id}`,
    summary: 'Remove a receiver',
    description: 'Its pending deliveries end as `canceled`.',
    answers: [{ status: 200, description: 'It is gone.', schema: ReceiverDeleted }],
    problems: ['receiver_not_found'],
  },
  {
    ...ofOne,
    id: 'testReceiver',
    method: 'post',
    path: `${root}/{id}/test`,
    summary: 'Send a test event',
    description:
      "Sends a signed `webhook.test` now, whatever the receiver's filter and also to a disabled one, and reports what it answered. It is never repeated.",
    body: { schema: NoBody, isRequired: false },
    answers: [{ status: 200, description: 'What came of it.', schema: TestOutcome }],
    problems: ['receiver_not_found'],
  },
  {
    ...ofOne,
    id: 'rotateReceiverSecret',
    method: 'post',
    path: `${root}/{id}/secret/rotate`,
    summary: "Rotate a receiver's signing secret",
    body: { schema: RotateSecret, isRequired: false },
    answers: [
      {
        status: 200,
        description: 'The new secret, this once.',
        schema: SecretRotated,
        headers: ['cache-control'],
      },
    ],
    problems: ['receiver_not_found'],
  },
  {
    ...ofOne,
    id: 'listReceiverDeliveries',
    method: 'get',
    path: `${root}/{id}/deliveries`,
    summary: "List a receiver's deliveries",
    description: 'Newest first.',
    query: ListDeliveries,
    answers: [{ status: 200, description: 'A page.', schema: DeliveryPage }],
    problems: ['receiver_not_found'],
  },
  {
    ...ofOne,
    id: 'replayDeliveries',
    method: 'post',
    path: `${root}/{id}/replay`,
    summary: 'Make the deliveries of a time range once more',
    description: 'Under the same delivery ids, with the same bytes.',
    body: { schema: RequestReplay, isRequired: true },
    answers: [
      { status: 202, description: 'The replay, which goes on by itself.', schema: ReplayView, headers: ['location'] },
    ],
    problems: ['receiver_not_found', 'receiver_disabled', 'replay_limit_reached'],
  },
];
