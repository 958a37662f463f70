import { z } from 'zod';
import { ID_PATTERNS } from './ids.ts';

// Ids as text in requests, answers and webhooks.

export const ReceiverIdText = idText(
  'ReceiverId',
  ID_PATTERNS.receiver,
  'Id of a receiver.',
  'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const TaskIdText = idText('TaskId', ID_PATTERNS.task, 'Id of a Task.', 'task_01kes8t4a0q3m1y5b9z7x2c6vd');
/** In a webhook, which may be a sample. */
export const AnyTaskIdText = idText(
  'AnyTaskId',
  /^task_(sample[0-9a-hjkmnp-tv-z]{20}|[0-9a-hjkmnp-tv-z]{26})$/,
  'Id of a Task. That of a sample begins with `task_sample`; no Task ever has such an id.',
  'task_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const CallbackIdText = idText(
  'CallbackId',
  /^cb_[0-9a-hjkmnp-tv-z]{26}$/,
  "Id of a Task's callback: the id of the Task with another prefix.",
  'cb_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const EndpointIdText = idText(
  'EndpointId',
  /^(wh|cb)_[0-9a-hjkmnp-tv-z]{26}$/,
  "Id of a receiver (`wh_…`), or of a Task's callback (`cb_…`).",
  'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const TransitionIdText = idText(
  'TransitionId',
  /^trn_[a-z2-7]{32}$/,
  'Id of a transition. Every path that reports the same fact yields the same id.',
  'trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
);
export const DeliveryIdText = idText(
  'DeliveryId',
  ID_PATTERNS.delivery,
  'Id of a delivery. The same on every try, another for every transition and endpoint.',
  'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
);
export const ReplayIdText = idText('ReplayId', ID_PATTERNS.replay, 'Id of a replay.', 'rpl_0f1e2d3c4b5a69788796a5b4');
export const PortalLinkIdText = idText(
  'PortalLinkId',
  ID_PATTERNS.portal_link,
  'Id of a portal link. It lets nobody in: the token does.',
  'plk_0f1e2d3c4b5a6978',
);
export const ApiKeyIdText = idText(
  'ApiKeyId',
  ID_PATTERNS.key,
  'Id of an API key. It lets nobody in: the key does.',
  'key_0123456789abcdef',
);
export const ApprovalIdText = idText(
  'ApprovalId',
  ID_PATTERNS.approval,
  'Id of an approval request: the `approval_request.id` of the event.',
  'pay',
);

function idText(id: string, pattern: RegExp, description: string, example: string) {
  return z
    .string()
    .regex(pattern)
    .meta({ id, description, examples: [example] });
}
