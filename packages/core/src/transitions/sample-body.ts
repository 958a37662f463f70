import type { TaskEventName } from '../events.ts';
import type { TaskId, TransitionId } from '../ids/ids.ts';
import type { TaskStatus } from '../tasks/task.ts';
import type { TransitionReport } from './transition-report.ts';
import { createActionUrl, renderWebhookBody } from './webhook-body.ts';

type Sample = { readonly status: TaskStatus; readonly report: TransitionReport };

const outcome = { summary: 'This is a sample: the invoice is drafted.', progress: 0.5 };

const SAMPLES: Readonly<Record<TaskEventName, Sample>> = {
  'task.check_in': {
    status: 'running',
    report: { type: 'checkpoint', checkpointId: 'sample', canonical: true, material: true, outcome },
  },
  'task.requires_action': {
    status: 'requires_action',
    report: {
      type: 'action_required',
      actionVersion: 1,
      approvalRequests: [{ id: 'sample', primary: true, title: 'Pay the invoice', description: '12 EUR' }],
      decisionItems: [
        { id: 'yes', label: 'Pay' },
        { id: 'no', label: 'Refuse' },
      ],
      apiResolvable: true,
      outcome,
    },
  },
  'task.done': { status: 'done', report: { type: 'done' } },
  'task.canceled': { status: 'canceled', report: { type: 'canceled' } },
};

/** The page of a sample leads nowhere: there is nothing to act on. */
const actionUrl = createActionUrl('https://app.example.com/tasks/{taskId}/actions/{actionVersion}');

export type SampleFacts = {
  readonly transitionId: TransitionId;
  readonly taskId: TaskId;
  /** Epoch ms. */
  readonly createdAt: number;
};

/** The raw body of a sample of an event: made as a real one is, of a transition and a Task that there are not. */
export function renderSampleBody(event: TaskEventName, facts: SampleFacts): string {
  return renderWebhookBody({ ...facts, ...SAMPLES[event], event, sequence: 1, actionUrl });
}
