import {
  CallbackIdText,
  CursorText,
  DeliveryIdText,
  EventName,
  PageLimit,
  ReceiverIdText,
  TaskIdText,
} from '@herald/core';
import { z } from 'zod';
import { DeliveryReasonCode } from '../../deliveries/delivery-view.ts';
import { LastAttempt } from '../../deliveries/attempt-view.ts';
import { NextCursor } from '../../http/cursor.ts';
import { TimeText } from '../../http/to-time.ts';

/** Query of the failed deliveries. */
export const ListFailed = z.strictObject({ limit: PageLimit, cursor: CursorText.exactOptional() });

const FailedRow = z
  .strictObject({
    id: DeliveryIdText,
    workspaceId: z.string(),
    endpointId: z.union([ReceiverIdText, CallbackIdText]),
    host: z.string().nullable().meta({ description: 'Null when the endpoint was removed.' }),
    event: EventName,
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
