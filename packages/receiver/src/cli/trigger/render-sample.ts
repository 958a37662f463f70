import { randomBytes } from 'node:crypto';
import type { EventName } from '../../events/event.ts';

const OUTCOME = { summary: 'This is a sample: the invoice is drafted.', progress: 0.5 };

/** What each event says besides the fields of all, in the order of Herald's own samples. */
const SAMPLES: Readonly<
  Record<Exclude<EventName, 'webhook.test'>, { readonly status: string; readonly more: object }>
> = {
  'task.check_in': { status: 'running', more: { outcome: OUTCOME } },
  'task.requires_action': {
    status: 'requires_action',
    more: {
      outcome: OUTCOME,
      approval_request: { id: 'sample', title: 'Pay the invoice', description: '12 EUR' },
      action_version: 1,
      decision_items: [
        { id: 'yes', label: 'Pay' },
        { id: 'no', label: 'Refuse' },
      ],
      api_resolvable: true,
      action_url: 'https://app.example.com/tasks/{taskId}/actions/1',
    },
  },
  'task.done': { status: 'done', more: {} },
  'task.canceled': { status: 'canceled', more: {} },
};

/** The body of a sample of an event, of a Task that doesn't exist. */
export function renderSample(event: EventName, now: number): string {
  const ending = randomBytes(10).toString('hex');
  const created_at = new Date(now).toISOString();
  if (event === 'webhook.test') return JSON.stringify({ id: `trn_${ending}`, event, created_at });
  const { status, more } = SAMPLES[event];
  const task = { id: `task_sample${ending}`, status };
  const body = { id: `trn_sample${ending}`, event, created_at, sequence: 1, task, ...more };
  return JSON.stringify(body).replace('{taskId}', task.id);
}
