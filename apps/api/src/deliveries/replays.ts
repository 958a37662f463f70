import { DELIVERY_STATUSES, EventName, ReceiverIdText, ReplayIdText } from '@herald/core';
import { type ReplayOperations, type Replay, REPLAY_WAITS } from '@herald/store/bulk/replay-store';
import { z } from 'zod';
import { type KeyedRouteTable, operation } from '../http/operation.ts';
import { workspaceOf } from '../http/request-state.ts';
import { TimeText, toTime } from '../http/answer-fields.ts';

/** A replay as its workspace sees it. */
export const ReplayView = z
  .strictObject({
    id: ReplayIdText,
    receiverId: ReceiverIdText,
    status: z.enum(['running', 'done', 'stopped']).meta({
      description: '`stopped`: by request, or because the receiver was disabled or removed.',
    }),
    statuses: z
      .array(z.enum(DELIVERY_STATUSES))
      .meta({ description: 'The statuses of the deliveries that are sent again.' }),
    event: EventName.exactOptional(),
    error: z
      .string()
      .meta({ description: 'Only those whose last attempt has this `error`, or which have this `reason`.' })
      .exactOptional(),
    httpStatus: z
      .string()
      .meta({ description: 'Only those whose last attempt was answered with this status, or one of this hundred.' })
      .exactOptional(),
    since: TimeText,
    until: TimeText,
    waiting: z
      .strictObject({ code: z.literal('workspace_full'), detail: z.string() })
      .nullable()
      .meta({
        description:
          'Why it sets no deliveries pending now: it goes on by itself once its workspace has room. Usually null.',
      }),
    createdAt: TimeText,
    endedAt: TimeText.nullable(),
    total: z.int().min(0).meta({ description: 'Deliveries in the time range.' }),
    seen: z.int().min(0).meta({ description: 'Deliveries looked at so far.' }),
    replayed: z.int().min(0).meta({
      description: 'Deliveries set pending again so far, and pending or delivered ones that get an attempt now.',
    }),
  })
  .meta({
    id: 'Replay',
    description: 'Sends the deliveries of a time range again.',
    examples: [
      {
        id: 'rpl_0f1e2d3c4b5a69788796a5b4',
        receiverId: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
        status: 'running',
        statuses: ['failed', 'canceled'],
        since: '2030-01-31T12:00:00.000Z',
        until: '2030-02-01T12:00:00.000Z',
        waiting: null,
        createdAt: '2030-02-01T12:00:00.000Z',
        endedAt: null,
        total: 1_200,
        seen: 300,
        replayed: 17,
      },
    ],
  });

/** The progress of a replay, and its end. */
export const REPLAY_ROUTES: KeyedRouteTable<{ readonly replays: ReplayOperations }> = {
  tag: 'Deliveries',
  path: '/api/public/replays',
  access: 'webhooks',
  forPortalLinks: true,
  ids: { id: 'replay' },
  operations: [
    operation('readReplay', 'GET /{id}', {
      summary: 'Read the progress of a replay',
      answer: { status: 200, description: 'The replay.', schema: ReplayView },
      async handle({ replays }, req) {
        return toReplayView(await replays.find(workspaceOf(req), req.params.id));
      },
    }),
    operation('stopReplay', 'DELETE /{id}', {
      audit: 'path',
      summary: 'Stop a replay',
      description: 'Deliveries that are already pending are still sent.',
      answer: { status: 200, description: 'The stopped replay.', schema: ReplayView },
      async handle({ replays }, req) {
        return toReplayView(await replays.stop(workspaceOf(req), req.params.id));
      },
    }),
  ],
};

export function toReplayView(replay: Replay): z.infer<typeof ReplayView> {
  return {
    id: replay.id,
    receiverId: replay.endpointId,
    status: replay.status,
    statuses: [...replay.statuses],
    ...(replay.event !== undefined && { event: replay.event }),
    ...(replay.error !== undefined && { error: replay.error }),
    ...(replay.httpStatus !== undefined && { httpStatus: replay.httpStatus }),
    since: toTime(replay.since),
    until: toTime(replay.until),
    waiting: replay.fullOf === undefined ? null : { code: 'workspace_full', detail: REPLAY_WAITS[replay.fullOf] },
    createdAt: toTime(replay.createdAt),
    endedAt: replay.endedAt === undefined ? null : toTime(replay.endedAt),
    total: replay.total,
    seen: replay.seen,
    replayed: replay.replayed,
  };
}
