import { z } from 'zod';
import { KnownText } from '../codes/code-table.ts';
import type { EventName } from '../events.ts';
import { AnyTaskIdText, TransitionIdText } from '../ids/ids.ts';
import type { TaskStatus } from '../tasks/task.ts';
import { PublicApprovalRequest, PublicDecisionItem, PublicOutcome } from './transition-report.ts';

const EXAMPLE = {
  id: 'trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
  created_at: '2030-01-31T12:00:00.000Z',
  sequence: 3,
  taskId: 'task_01kes8t4a0q3m1y5b9z7x2c6vd',
};

const CreatedAt = z.iso.datetime().meta({ description: 'When the transition was accepted.' });
const Sequence = z
  .int()
  .min(1)
  .meta({ description: 'Rises with every event of a Task. Deliveries may arrive in another order.' });

function taskFields<Event extends EventName, Status extends TaskStatus>(
  event: Event,
  name: string,
  statuses: readonly [Status, ...Status[]],
) {
  return {
    id: TransitionIdText,
    event: z.literal(event),
    created_at: CreatedAt,
    sequence: Sequence,
    task: z
      .object({ id: AnyTaskIdText, status: KnownText(statuses) })
      .meta({ id: `${name}Task`, description: 'The Task, with its status at that time.' }),
  };
}

function example(event: EventName, status: TaskStatus, more: object = {}) {
  const { taskId, ...common } = EXAMPLE;
  return [{ ...common, event, task: { id: taskId, status }, ...more }];
}

const outcome = { summary: 'The invoice is drafted.', progress: 0.5 };

/**
 * The schema of each event's body (spec sections 2 and 6). `renderWebhookBody` and `renderTestBody` make the bodies.
 */
export const WEBHOOK_PAYLOADS = {
  'task.check_in': z
    .object({ ...taskFields('task.check_in', 'CheckIn', ['running', 'requires_action']), outcome: PublicOutcome })
    .meta({ id: 'CheckInPayload', examples: example('task.check_in', 'running', { outcome }) }),
  'task.requires_action': z
    .object({
      ...taskFields('task.requires_action', 'RequiresAction', ['requires_action']),
      outcome: PublicOutcome,
      approval_request: PublicApprovalRequest,
      action_version: z.int().min(1).meta({ description: 'Send it back when you resolve the request.' }),
      decision_items: z.array(PublicDecisionItem),
      api_resolvable: z.boolean().meta({
        description:
          'Whether a key of the workspace may answer it with `POST /tasks/{id}/approvals/{approvalId}/resolve`. False: somebody acts on the page of `action_url`.',
      }),
      action_url: z.url().meta({ description: 'A page where a person signs in and acts. It carries no credential.' }),
    })
    .meta({
      id: 'RequiresActionPayload',
      examples: example('task.requires_action', 'requires_action', {
        outcome,
        approval_request: { id: 'pay', title: 'Pay the invoice', description: '12 EUR' },
        action_version: 1,
        decision_items: [
          { id: 'yes', label: 'Pay' },
          { id: 'no', label: 'Refuse' },
        ],
        api_resolvable: true,
        action_url: `https://app.example.com/tasks/${EXAMPLE.taskId}/actions/1`,
      }),
    }),
  'task.done': z
    .object(taskFields('task.done', 'Done', ['done']))
    .meta({ id: 'DonePayload', examples: example('task.done', 'done') }),
  'task.canceled': z
    .object(taskFields('task.canceled', 'Canceled', ['canceled']))
    .meta({ id: 'CanceledPayload', examples: example('task.canceled', 'canceled') }),
  'webhook.test': z.object({ id: TransitionIdText, event: z.literal('webhook.test'), created_at: CreatedAt }).meta({
    id: 'TestPayload',
    examples: [{ id: EXAMPLE.id, event: 'webhook.test', created_at: EXAMPLE.created_at }],
  }),
} satisfies Record<EventName, z.ZodType>;
