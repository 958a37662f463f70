import { TaskEventName } from '../events.ts';
import {
  AnyTaskIdText,
  ID_PATTERNS,
  newSampleTaskId,
  newSampleTransitionId,
  newTaskId,
  TaskIdText,
  TransitionIdText,
} from '../ids/ids.ts';
import type { TaskStatus } from '../tasks/task.ts';
import { TransitionReport } from './transition-report.ts';
import { createActionUrl, renderSampleBody, renderTestBody, renderWebhookBody } from './webhook-body.ts';
import { WEBHOOK_PAYLOADS } from './webhook-payloads.ts';

const CREATED_AT = Date.UTC(2030, 0, 2, 3, 4, 5, 6);
const ENVELOPE = ['id', 'event', 'created_at', 'sequence', 'task'];
const actionUrl = createActionUrl('https://app.example/tasks/{taskId}/actions/{actionVersion}');

function render(event: TaskEventName, status: TaskStatus, report: TransitionReport): string {
  const createdAt = CREATED_AT;
  return renderWebhookBody({
    transitionId: 'trn_1',
    event,
    createdAt,
    sequence: 4,
    taskId: 'task_1',
    status,
    report,
    actionUrl,
  });
}

const outcome = { summary: 'Grüße “so far”', progress: 0.5 };

type Case = { event: TaskEventName; status: TaskStatus; report: object; adds: object };

const cases: Case[] = [
  {
    event: 'task.check_in',
    status: 'running',
    report: { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true, outcome },
    adds: { outcome },
  },
  {
    event: 'task.requires_action',
    status: 'requires_action',
    report: {
      type: 'action_required',
      actionVersion: 2,
      approvalRequests: [
        { id: 'a2', title: 'Other' },
        { id: 'a1', title: 'Pay?', description: '12 €', primary: true },
      ],
      decisionItems: [{ id: 'yes', label: 'Yes' }],
      apiResolvable: true,
      outcome,
    },
    adds: {
      outcome,
      approval_request: { id: 'a1', title: 'Pay?', description: '12 €' },
      action_version: 2,
      decision_items: [{ id: 'yes', label: 'Yes' }],
      api_resolvable: true,
      action_url: 'https://app.example/tasks/task_1/actions/2',
    },
  },
  { event: 'task.done', status: 'done', report: { type: 'done', result: 1, outcome, usage: 2 }, adds: {} },
  { event: 'task.canceled', status: 'canceled', report: { type: 'canceled' }, adds: {} },
];

test.each(cases)('the body of $event has exactly its fields, in their order', ({ event, status, report, adds }) => {
  const body = JSON.parse(render(event, status, TransitionReport.parse(report))) as object;
  expect(body).toEqual({
    id: 'trn_1',
    event,
    created_at: '2030-01-02T03:04:05.006Z',
    sequence: 4,
    task: { id: 'task_1', status },
    ...adds,
  });
  expect(Object.keys(body)).toEqual([...ENVELOPE, ...Object.keys(adds)]);
});

test('a body is compact JSON: these bytes are what is signed', () => {
  expect(render('task.done', 'done', { type: 'done' })).toBe(
    '{"id":"trn_1","event":"task.done","created_at":"2030-01-02T03:04:05.006Z","sequence":4,"task":{"id":"task_1","status":"done"}}',
  );
});

test('a test event has an id, its name and a time, and no Task', () => {
  expect(renderTestBody('trn_9', CREATED_AT)).toBe(
    '{"id":"trn_9","event":"webhook.test","created_at":"2030-01-02T03:04:05.006Z"}',
  );
});

/** Fields that nobody named safe, some of them close to names that are. Every value is a canary. */
function internals(place: string) {
  const canary = (name: string) => `CANARY ${place} ${name}`;
  return {
    note: canary('note'),
    internalNote: { deep: [{ deeper: canary('deep') }] },
    toolOutput: [canary('tool output')],
    credential: canary('credential'),
    executionWorkspaceId: canary('workspace'),
    Summary: canary('Summary'),
    action_url: canary('action_url'),
    actionUrl: canary('actionUrl'),
    outcome: { summary: canary('outcome') },
    result: canary('result'),
    toJSON: canary('toJSON'),
    constructor: canary('constructor'),
    'CANARY key': 1,
  };
}

const leakyOutcome = { ...internals('outcome'), summary: 'safe', id: 'CANARY id', title: 'CANARY title' };
const leakyReports: Omit<Case, 'adds'>[] = [
  {
    event: 'task.check_in',
    status: 'running',
    report: { type: 'checkpoint', checkpointId: 'CANARY', canonical: true, material: true, outcome: leakyOutcome },
  },
  {
    event: 'task.requires_action',
    status: 'requires_action',
    report: {
      type: 'action_required',
      actionVersion: 2,
      approvalRequests: [
        { ...internals('other'), id: 'CANARY-a2', title: 'CANARY title', description: 'CANARY description' },
        { ...internals('primary'), id: 'a1', title: 'safe', primary: true, label: 'CANARY label' },
      ],
      decisionItems: [{ ...internals('item'), id: 'yes', label: 'safe', title: 'CANARY title' }],
      outcome: leakyOutcome,
    },
  },
  {
    event: 'task.done',
    status: 'done',
    report: {
      type: 'done',
      result: internals('result'),
      outcome: { ...internals('done'), summary: 'CANARY summary', progress: 0.123_456 },
      usage: internals('usage'),
    },
  },
];

test.each(leakyReports)('nothing internal leaves in a $event', ({ event, status, report }) => {
  const parsed = TransitionReport.parse(report);
  // The canaries did pass the schema; only the projection keeps them in.
  expect(JSON.stringify(parsed).match(/CANARY/g)?.length).toBe(JSON.stringify(report).match(/CANARY/g)?.length);

  const body = render(event, status, parsed);
  expect(body).not.toContain('CANARY');
  expect(body).not.toContain('0.123456');
});

test.each([
  ['https://app.example/{taskId}/{actionVersion}', 'task_1', 2, 'https://app.example/task_1/2'],
  [
    'https://app.example/?t={taskId}&v={actionVersion}#{taskId}',
    'task_1',
    2,
    'https://app.example/?t=task_1&v=2#task_1',
  ],
  ['https://app.example/{actionVersion}?v={actionVersion}', 'task_1', 2, 'https://app.example/2?v=2'],
  ['https://app.example/inbox', 'task_1', 2, 'https://app.example/inbox'],
  ['https://app.example/{taskId}', 'a/b?c#d e&f=ü', 2, 'https://app.example/a%2Fb%3Fc%23d%20e%26f%3D%C3%BC'],
  ['https://app.example/{taskId}', "$&$1$$$`$'", 2, "https://app.example/%24%26%241%24%24%24%60%24'"],
  ['https://app.example/{taskId}/{actionVersion}', '{actionVersion}', 2, 'https://app.example/%7BactionVersion%7D/2'],
  ['https://app.example/$&/{taskId}', 'task_1', 2, 'https://app.example/$&/task_1'],
])('the template %s makes of Task %s and version %d the url %s', (template, taskId, version, url) => {
  expect(createActionUrl(template)(taskId, version)).toBe(url);
});

const NOW = Date.UTC(2030, 0, 31, 12);

test.each(TaskEventName.options)('a sample of %s has the documented body of the event', (event) => {
  const facts = { transitionId: newSampleTransitionId(), taskId: newSampleTaskId(NOW), createdAt: NOW };
  const body: unknown = JSON.parse(renderSampleBody(event, facts));
  expect(WEBHOOK_PAYLOADS[event].parse(body)).toEqual(body);
  expect(body).toMatchObject({
    id: facts.transitionId,
    event,
    created_at: '2030-01-31T12:00:00.000Z',
    task: { id: facts.taskId },
  });
});

test('the ids of a sample say so, and each sample has its own', () => {
  const taskId = newSampleTaskId(NOW);
  expect(taskId).toMatch(/^task_sample/);
  expect(AnyTaskIdText.safeParse(taskId).success).toBe(true);
  expect(newSampleTaskId(NOW)).not.toBe(taskId);
  const transitionId = newSampleTransitionId();
  expect(transitionId).toMatch(/^trn_sample/);
  expect(TransitionIdText.safeParse(transitionId).success).toBe(true);
  expect(newSampleTransitionId()).not.toBe(transitionId);
});

test('no Task can have the id of a sample', () => {
  const taskId = newSampleTaskId(NOW);
  expect(ID_PATTERNS.task.test(taskId)).toBe(false);
  expect(TaskIdText.safeParse(taskId).success).toBe(false);
  expect(newTaskId(NOW)).not.toMatch(/^task_sample/);
});
