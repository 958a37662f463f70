import {
  EVENT_NAMES,
  ListDeliveries,
  LockReceiver,
  PatchReceiver,
  PauseReceiver,
  RECEIVER_LIMIT,
  RegisterReceiver,
  RequestReplay,
  RequestTest,
  RotateSecret,
} from '@herald/core';
import type { DeliveryLog } from '@herald/store/lists/delivery-log';
import type { ReceiverRecord } from '@herald/store/endpoints/receiver-store';
import type { ReplayOperations } from '@herald/store/bulk/replay-store';
import type { Request, Response } from 'express';
import { DeliveryPage, MAY_BE_PARTIAL, sinceLook, toDeliveryPage } from '../deliveries/delivery-view.ts';
import { readCursor, ROTATION_ANSWER, toRotatedSecret } from '../http/answer-fields.ts';
import { demandedVersion, etagOf } from '../http/headers.ts';
import { type KeyedRouteTable, operation, type RouteTable } from '../http/operation.ts';
import type { PriceLists } from '../http/rate-limit.ts';
import { budgetOf, disablerOf, stateOf, workspaceOf } from '../http/request-state.ts';
import { REPLAYED } from '../idempotency.ts';
import { ReplayView, toReplayView } from '../deliveries/replays.ts';
import { ReadStats, type ReadWorkspaceStats, StatsView } from '../deliveries/stats.ts';
import type { ManageReceivers, ReceiverWithHealth, SendLimitedTestEvent } from './manage-receivers.ts';
import {
  answerWithReceiver,
  ReceiverDeleted,
  ReceiverList,
  ReceiverRegistration,
  ReceiverView,
  TestOutcome,
  toReceiverView,
  toTestOutcome,
} from './receiver-view.ts';

type ReceiverRoutesDeps = {
  readonly receivers: ManageReceivers;
  readonly deliveryLog: DeliveryLog;
  readonly readPriced: PriceLists;
  readonly replays: ReplayOperations;
  readonly sendTestEvent: SendLimitedTestEvent;
  readonly readStats: ReadWorkspaceStats;
  /** Epoch ms. */
  readonly now: () => number;
};

/** The receivers of a workspace (spec section 4). */
export const RECEIVER_ROUTES: KeyedRouteTable<ReceiverRoutesDeps> = {
  tag: 'Receivers',
  path: '/api/public/webhooks',
  access: 'webhooks',
  forPortalLinks: true,
  ids: { id: 'receiver' },
  operations: [
    operation('listReceivers', 'GET /', {
      summary: 'List the receivers of the workspace',
      answer: { status: 200, description: 'All receivers and all event names.', schema: ReceiverList },
      async handle({ receivers }, req) {
        const list = await receivers.list(workspaceOf(req));
        return { webhooks: list.map(toReceiverView), events: [...EVENT_NAMES] };
      },
    }),
    operation('registerReceiver', 'POST /', {
      audit: 'answer',
      summary: 'Register a receiver',
      description: `A workspace has at most ${RECEIVER_LIMIT} receivers. The signing secret is shown only in this answer.`,
      body: RegisterReceiver,
      answer: {
        status: 201,
        description: 'The receiver with its signing secret.',
        schema: ReceiverRegistration,
        headers: ['location', 'cache-control', 'etag'],
      },
      problems: ['receiver_limit_reached'],
      async handle({ receivers }, req, res, request) {
        const { receiver, secret } = await receivers.register(
          workspaceOf(req),
          request,
          disablerOf(req),
          stateOf(req).seed,
        );
        if (secret === undefined) res.set(REPLAYED, 'true');
        res.location(`/api/public/webhooks/${receiver.receiver.id}`).set('etag', etagOf(receiver.receiver));
        return { ...toReceiverView(receiver), ...(secret !== undefined && { secret }) };
      },
    }),
    operation('readReceiver', 'GET /{id}', {
      summary: 'Read a receiver',
      description: 'Its `ETag` stands for what can be set, not for its `health`.',
      answer: { status: 200, description: 'The receiver.', schema: ReceiverView, headers: ['etag'] },
      async handle({ receivers }, req, res) {
        return answerWithReceiver(res, await receivers.find(workspaceOf(req), req.params.id));
      },
    }),
    operation('changeReceiver', 'PATCH /{id}', {
      audit: 'path',
      summary: 'Change a receiver',
      description:
        'A receiver that the platform has locked is not changed. Omitted fields stay unchanged. A new URL, or enabling, resets the failure count. A URL of another origin (scheme, host and port) removes the `headers`, unless they are given in the same request: the answer then has no `headerNames`. A new `rateLimit` is also for what waits already; null removes it.',
      body: PatchReceiver,
      obeysIfMatch: true,
      answer: { status: 200, description: 'The changed receiver.', schema: ReceiverView, headers: ['etag'] },
      problems: ['receiver_locked'],
      async handle({ receivers }, req, res, patch) {
        const { id } = req.params;
        const demand = (found: ReceiverRecord) => demandedVersion(req, id, found);
        return answerWithReceiver(res, await receivers.patch(workspaceOf(req), id, patch, disablerOf(req), demand));
      },
    }),
    operation('removeReceiver', 'DELETE /{id}', {
      audit: 'path',
      summary: 'Remove a receiver',
      description: 'Its pending deliveries are canceled. A locked one can be removed, too.',
      obeysIfMatch: true,
      answer: { status: 200, description: 'The receiver is removed.', schema: ReceiverDeleted },
      async handle({ receivers }, req) {
        const { id } = req.params;
        const demand = (found: ReceiverRecord) => demandedVersion(req, id, found);
        const wasLocked = await receivers.remove(workspaceOf(req), id, demand);
        if (wasLocked) stateOf(req).auditFacts = { reason: 'it was locked by the platform' };
        return { deleted: true };
      },
    }),
    operation('testReceiver', 'POST /{id}/test', {
      audit: 'path',
      summary: 'Send a test event',
      description:
        'Sends a signed `webhook.test` now, also to a receiver that is disabled, unless the platform has locked it, and whatever its `events` are. It is never retried. With `event`, it sends a sample of that event: made like a real one, with the header `x-service-sample: true`, and of a Task that does not exist (`task_sample…`).',
      body: RequestTest,
      answer: { status: 200, description: "The receiver's answer.", schema: TestOutcome },
      problems: ['receiver_locked', 'workspace_full'],
      async handle({ sendTestEvent }, req, _res, { event }) {
        return toTestOutcome(await sendTestEvent(budgetOf(req), workspaceOf(req), req.params.id, event));
      },
    }),
    operation('rotateReceiverSecret', 'POST /{id}/secret/rotate', {
      audit: 'path',
      isHarmlessAgain: true,
      summary: "Rotate a receiver's signing secret",
      description: 'Also of one that is disabled or locked.',
      body: RotateSecret,
      answer: ROTATION_ANSWER,
      async handle({ receivers }, req, res, request) {
        const { receiver } = await receivers.find(workspaceOf(req), req.params.id);
        return toRotatedSecret(await receivers.rotateSecret(receiver.workspaceId, receiver.id, request));
      },
    }),
    operation('endReceiverOverlap', 'DELETE /{id}/secret/previous', {
      audit: 'path',
      summary: "End the overlap of a rotation of a receiver's secret",
      description:
        'The old secret is out of force at once, and the new one stays. Does nothing while no overlap is running (`secretOverlapEndsAt`). Also of one that is disabled or locked.',
      answer: { status: 200, description: 'The receiver.', schema: ReceiverView, headers: ['etag'] },
      async handle({ receivers }, req, res) {
        return answerWithReceiver(res, await receivers.endOverlap(workspaceOf(req), req.params.id));
      },
    }),
    operation('listReceiverDeliveries', 'GET /{id}/deliveries', {
      summary: "List a receiver's deliveries",
      description: `Newest first. For what has come since, keep the \`sinceCursor\` of the first page. ${MAY_BE_PARTIAL}`,
      query: ListDeliveries,
      answer: { status: 200, description: 'A page.', schema: DeliveryPage },
      problems: ['history_unavailable'],
      async handle({ receivers, deliveryLog, readPriced, now }, req, res, { limit, cursor, ...query }) {
        const lookedAt = now();
        const filter = sinceLook(query);
        const after = readCursor(cursor);
        const { receiver } = await receivers.find(workspaceOf(req), req.params.id);
        const { workspaceId, id } = receiver;
        const read = (signal: AbortSignal) => deliveryLog.listByEndpoint(workspaceId, id, filter, limit, after, signal);
        return toDeliveryPage(await readPriced(req, res, read), cursor === undefined ? lookedAt : undefined);
      },
    }),
    operation('readReceiverStats', 'GET /{id}/stats', {
      summary: 'Read what attempts to a receiver came to',
      query: ReadStats,
      answer: { status: 200, description: 'The statistics.', schema: StatsView },
      async handle({ receivers, readStats }, req, _res, { window }) {
        const { receiver } = await receivers.find(workspaceOf(req), req.params.id);
        return await readStats.ofReceiver(receiver.workspaceId, receiver.id, window);
      },
    }),
    operation('replayDeliveries', 'POST /{id}/replay', {
      audit: 'path',
      summary: 'Send the deliveries of a time range again',
      description: 'Sends the same bytes under the same delivery ids.',
      body: RequestReplay,
      answer: {
        status: 202,
        description: 'The replay. It runs by itself.',
        schema: ReplayView,
        headers: ['location'],
      },
      problems: ['receiver_disabled', 'receiver_locked', 'replay_limit_reached'],
      async handle({ receivers, replays }, req, res, request) {
        const { receiver } = await receivers.find(workspaceOf(req), req.params.id);
        const replay = await replays.request(receiver.workspaceId, receiver.id, request, stateOf(req).seed);
        res.location(`/api/public/replays/${replay.id}`);
        return toReplayView(replay);
      },
    }),
  ],
};

type LockRoutesDeps = { readonly receivers: Pick<ManageReceivers, 'lock' | 'unlock' | 'pause' | 'resume'> };

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
      isHarmlessAgain: true,
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
      isHarmlessAgain: true,
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
