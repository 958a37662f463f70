import {
  CursorText,
  DELIVERY_REASONS,
  DeliveryEvent,
  DeliveryIdText,
  isCodeOf,
  PageLimit,
  TaskIdText,
} from '@herald/core';
import { workspaceOfOwner } from '@herald/store/keyspace/platform';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import { z } from 'zod';
import { DeliveryReasonCode } from '../../deliveries/delivery-view.ts';
import { LastAttempt, toLastAttempt } from '../../deliveries/attempt-view.ts';
import { NextCursor } from '../../http/cursor.ts';
import { TimeText, toTime } from '../../http/to-time.ts';

/** Query of the failed deliveries. */
export const ListFailed = z.strictObject({ limit: PageLimit, cursor: CursorText.exactOptional() });

const FailedRow = z
  .strictObject({
    id: DeliveryIdText,
    workspaceId: z.string(),
    endpointId: z.string().meta({ description: 'A receiver or a callback; `platform` of a notice.' }),
    host: z.string().nullable().meta({ description: 'Null when the endpoint was removed.' }),
    event: DeliveryEvent,
    taskId: TaskIdText.nullable(),
    createdAt: TimeText,
    failedAt: TimeText.nullable(),
    tries: z.int().min(0),
    reason: DeliveryReasonCode.exactOptional(),
    lastAttempt: LastAttempt.nullable(),
  })
  .meta({ id: 'FailedDelivery' });

export const FailedPage = z
  .strictObject({ deliveries: z.array(FailedRow), nextCursor: NextCursor })
  .meta({ id: 'FailedPage' });
export type FailedPage = z.infer<typeof FailedPage>;

export function toFailedRow({ delivery, host, lastAttempt }: DeliveryDescription): FailedPage['deliveries'][number] {
  const { id, workspaceId, endpointId, event, taskId, createdAt, settledAt, tries, reason } = delivery;
  return {
    id,
    workspaceId: workspaceOfOwner(workspaceId),
    endpointId,
    host: host ?? null,
    event,
    taskId: taskId ?? null,
    createdAt: toTime(createdAt),
    failedAt: settledAt === undefined ? null : toTime(settledAt),
    tries,
    ...(isCodeOf(DELIVERY_REASONS, reason) && { reason }),
    lastAttempt: lastAttempt ? toLastAttempt(lastAttempt) : null,
  };
}
