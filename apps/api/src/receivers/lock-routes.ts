import { LockReceiver, PauseReceiver } from '@herald/core';
import type { Request, Response } from 'express';
import { stateOf, workspaceOf } from '../http/request-state.ts';
import { operation, type RouteTable } from '../http/operation.ts';
import type { ManageReceivers, ReceiverWithHealth } from './manage-receivers.ts';
import { answerWithReceiver, ReceiverView } from './receiver-view.ts';

export type LockRoutesDeps = { readonly receivers: Pick<ManageReceivers, 'lock' | 'unlock' | 'pause' | 'resume'> };

/**
 * What an operator does to a receiver that its customer can't undo. The right to it is that of the link by which the
 * operator is in the workspace's console: that page is at the customers' port, where nothing asks for his password, and
 * the link holds for this workspace alone, for an hour, and says who made it.
 */
export const LOCK_ROUTES: RouteTable<LockRoutesDeps> = {
  tag: 'Receivers',
  path: '/api/public/webhooks',
  access: 'operator_link',
  ids: { id: 'receiver' },
  operations: [
    operation('lockReceiver', 'POST /{id}/lock', {
      audit: 'path',
      summary: 'Disable a receiver until the platform lifts that',
      description:
        'Its pending deliveries are canceled. Until the lock is lifted nothing is sent to it, and its workspace can only read, rotate its secret and remove it: everything else is `receiver_locked`. One that is disabled already stays so. A second lock replaces the reason.',
      body: LockReceiver,
      answer: { status: 200, description: 'The locked receiver.', schema: ReceiverView, headers: ['etag'] },
      handle: ({ receivers }, req, res, request) =>
        answerWithheld(req, res, request, receivers.lock(workspaceOf(req), req.params.id, request)),
    }),
    operation('unlockReceiver', 'DELETE /{id}/lock', {
      audit: 'path',
      summary: 'Lift the lock of a receiver, and enable it',
      description: 'It is enabled whoever disabled it. What it missed is brought back by a replay.',
      answer: { status: 200, description: 'The enabled receiver.', schema: ReceiverView, headers: ['etag'] },
      async handle({ receivers }, req, res) {
        return answerWithReceiver(res, await receivers.unlock(workspaceOf(req), req.params.id));
      },
    }),
    operation('pauseReceiver', 'POST /{id}/pause', {
      audit: 'path',
      summary: 'Hold back what is sent to a receiver until the platform lifts that',
      description:
        'Its deliveries wait, redeliveries and replays too, and lose no try; test events are still sent. Nothing that its workspace does lifts the pause: it can change, disable and remove the receiver, which stays paused. What waits for longer than deliveries are tried is then `failed` as `too_old`. A second pause replaces the reason.',
      body: PauseReceiver,
      answer: { status: 200, description: 'The paused receiver.', schema: ReceiverView, headers: ['etag'] },
      handle: ({ receivers }, req, res, request) =>
        answerWithheld(req, res, request, receivers.pause(workspaceOf(req), req.params.id, request)),
    }),
    operation('resumeReceiver', 'DELETE /{id}/pause', {
      audit: 'path',
      summary: 'Let what waits for a paused receiver go',
      description: 'What waited goes in its order. One that is disabled stays so.',
      answer: {
        status: 200,
        description: 'The receiver, which is not paused any more.',
        schema: ReceiverView,
        headers: ['etag'],
      },
      async handle({ receivers }, req, res) {
        return answerWithReceiver(res, await receivers.resume(workspaceOf(req), req.params.id));
      },
    }),
  ],
};

/** Shows a receiver from which something is withheld now. Why stands in the audit trail. */
async function answerWithheld(
  req: Request,
  res: Response,
  { reason }: { readonly reason?: string | undefined },
  withheld: Promise<ReceiverWithHealth>,
) {
  const receiver = await withheld;
  if (reason !== undefined) stateOf(req).auditFacts = { reason };
  return answerWithReceiver(res, receiver);
}
