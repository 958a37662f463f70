import type { TaskEventName } from '../events.ts';
import type { TaskId, TransitionId } from '../ids/ids.ts';
import { projectAction, projectOutcome, type TransitionReport } from './transition-report.ts';
import type { TaskStatus } from '../tasks/task.ts';
import { toLeavingJson } from '../text.ts';

export type BodyFacts = {
  readonly transitionId: TransitionId;
  readonly event: TaskEventName;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly sequence: number;
  readonly taskId: TaskId;
  readonly status: TaskStatus;
  readonly report: TransitionReport;
  readonly actionUrl: ActionUrl;
};

/** Makes the url of the page where a person signs in and acts. The url carries no credential. */
export type ActionUrl = (taskId: TaskId, actionVersion: number) => string;

/** Fills `{taskId}` and `{actionVersion}` of `ACTION_URL_TEMPLATE`. */
export function createActionUrl(template: string): ActionUrl {
  return (taskId, actionVersion) =>
    template
      .replaceAll('{taskId}', encodeURIComponent(taskId))
      .replaceAll('{actionVersion}', encodeURIComponent(String(actionVersion)));
}

function eventFields({ report, taskId, actionUrl }: BodyFacts) {
  switch (report.type) {
    case 'checkpoint':
      return report.outcome && { outcome: projectOutcome(report.outcome) };
    case 'action_required':
      return {
        outcome: projectOutcome(report.outcome),
        ...projectAction(report, actionUrl(taskId, report.actionVersion)),
      };
    case 'start':
    case 'done': // terminal payloads omit result, outcome and usage (spec section 2)
    case 'canceled':
      return undefined;
  }
}

/** The raw body of a transition's webhooks. Herald stores it: every endpoint and every retry gets these bytes. */
export function renderWebhookBody(facts: BodyFacts): string {
  return toLeavingJson({
    id: facts.transitionId,
    event: facts.event,
    created_at: new Date(facts.createdAt).toISOString(),
    sequence: facts.sequence,
    task: { id: facts.taskId, status: facts.status },
    ...eventFields(facts),
  });
}

/** The raw body of a test event. */
export function renderTestBody(transitionId: TransitionId, createdAt: number): string {
  return toLeavingJson({ id: transitionId, event: 'webhook.test', created_at: new Date(createdAt).toISOString() });
}

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
