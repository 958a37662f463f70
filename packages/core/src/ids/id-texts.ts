import { z } from 'zod';
import { ID_PATTERNS } from './ids.ts';

// Ids as text in requests, answers and webhooks.

export const ReceiverIdText = z
  .string()
  .regex(ID_PATTERNS.receiver)
  .meta({ id: 'ReceiverId', description: 'Id of a receiver.', examples: ['wh_01kes8t4a0q3m1y5b9z7x2c6vd'] });
export const TaskIdText = z
  .string()
  .regex(ID_PATTERNS.task)
  .meta({ id: 'TaskId', description: 'Id of a Task.', examples: ['task_01kes8t4a0q3m1y5b9z7x2c6vd'] });
export const CallbackIdText = z
  .string()
  .regex(/^cb_[0-9a-hjkmnp-tv-z]{26}$/)
  .meta({
    id: 'CallbackId',
    description: "Id of a Task's callback: the Task's own, with another prefix.",
    examples: ['cb_01kes8t4a0q3m1y5b9z7x2c6vd'],
  });
export const TransitionIdText = z
  .string()
  .regex(/^trn_[a-z2-7]{32}$/)
  .meta({
    id: 'TransitionId',
    description: 'Id of a transition: the same on every path that reports the same fact.',
    examples: ['trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw'],
  });
export const DeliveryIdText = z
  .string()
  .regex(ID_PATTERNS.delivery)
  .meta({
    id: 'DeliveryId',
    description: 'Id of a delivery: stable per transition and per endpoint, on every try.',
    examples: ['dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq'],
  });
export const ReplayIdText = z
  .string()
  .regex(ID_PATTERNS.replay)
  .meta({ id: 'ReplayId', description: 'Id of a replay.', examples: ['rpl_0f1e2d3c4b5a69788796a5b4'] });
export const ApprovalIdText = z
  .string()
  .regex(ID_PATTERNS.approval)
  .meta({
    id: 'ApprovalId',
    description: 'Id of an approval request: the `approval_request.id` of the event that asked.',
    examples: ['pay'],
  });
