import type { z } from 'zod';
import { Outcome } from '../tasks/task.ts';
import {
  type ActionRequiredReport,
  BATCH_LIMIT,
  BatchItem,
  projectAction,
  projectOutcome,
  TransitionBatch,
  TransitionReport,
} from './transition-report.ts';

const TYPES = "'start' | 'checkpoint' | 'action_required' | 'done' | 'canceled'";
const NO_TYPE = `type: Invalid discriminator value. Expected ${TYPES}`;
const BAD_ID = 'must be 1 to 128 letters, digits, . _ : or -';
const ONE_PRIMARY = 'approvalRequests: must mark exactly one request as primary';
const NO_REPEAT = 'approvalRequests: must not repeat an id';

const outcome = { summary: 'so far' };
const request = { id: 'a1', title: 'Pay?' };
const primary = { ...request, primary: true };
const checkpoint = { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true, outcome };
const action = { type: 'action_required', actionVersion: 1, approvalRequests: [primary], outcome };

/** As `JSON.parse` makes it: a field of its own named `__proto__`, which a literal can't have. */
function withProto(value: object, proto: unknown): object {
  return Object.defineProperty({ ...value }, '__proto__', { value: proto, enumerable: true });
}

function problemsOf(schema: z.ZodType, input: unknown): string[] {
  return schema.safeParse(input).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

test.each<{ when: string; body: unknown; report?: object }>([
  { when: 'a start', body: { type: 'start' } },
  { when: 'a canceled', body: { type: 'canceled' } },
  { when: 'a done that says nothing', body: { type: 'done' } },
  { when: 'a done whose result is null', body: { type: 'done', result: null, usage: [1, { x: false }] } },
  { when: 'a done with all it may say', body: { type: 'done', result: 'text', outcome, usage: 0 } },
  { when: 'a material canonical checkpoint', body: checkpoint },
  {
    when: 'a checkpoint that emits nothing and has no outcome',
    body: { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: false },
  },
  { when: 'an id of 128 of its characters', body: { ...checkpoint, checkpointId: 'aZ09._:-'.repeat(16) } },
  { when: 'a progress of 0', body: { ...checkpoint, outcome: { summary: '', progress: 0 } } },
  { when: 'a progress of 1', body: { ...checkpoint, outcome: { summary: '', progress: 1 } } },
  { when: 'more fields in an outcome', body: { ...checkpoint, outcome: { ...outcome, internal: { deep: [1] } } } },
  {
    when: 'an action with its defaults',
    body: { ...action, approvalRequests: [primary, { ...request, id: 'a2' }] },
    report: {
      ...action,
      approvalRequests: [primary, { ...request, id: 'a2', primary: false }],
      decisionItems: [],
    },
  },
  {
    when: 'an action with more fields in its requests and items',
    body: {
      ...action,
      approvalRequests: [{ ...primary, description: '', tool: 'bank' }],
      decisionItems: [{ id: 'yes', label: 'Yes', weight: 3 }],
      apiResolvable: true,
    },
  },
])('$when is accepted', ({ body, report }) => {
  expect(TransitionReport.parse(body)).toStrictEqual(report ?? body);
});

const refusals: { body: unknown; problems: string[] }[] = [
  { body: {}, problems: [NO_TYPE] },
  { body: { type: 'closed' }, problems: [NO_TYPE] },
  { body: { type: 'START' }, problems: [NO_TYPE] },
  { body: withProto({}, { type: 'start' }), problems: [NO_TYPE] },
  { body: { type: 'start', at: 1 }, problems: [': Unrecognized key: "at"'] },
  { body: { type: 'done', at: 1 }, problems: [': Unrecognized key: "at"'] },
  { body: { ...checkpoint, at: 1 }, problems: [': Unrecognized key: "at"'] },
  { body: { ...action, at: 1 }, problems: [': Unrecognized key: "at"'] },
  { body: { type: 'canceled', reason: 'x', by: 'me' }, problems: [': Unrecognized keys: "reason", "by"'] },
  {
    body: { type: 'done', outcome: {} },
    problems: ['outcome.summary: Invalid input: expected string, received undefined'],
  },
  { body: { type: 'done', outcome: null }, problems: ['outcome: Invalid input: expected object, received null'] },
  {
    body: { type: 'done', outcome: { summary: 'x'.repeat(4_097) } },
    problems: ['outcome.summary: Too big: expected string to have <=4096 characters'],
  },
  {
    body: { type: 'checkpoint' },
    problems: [
      'checkpointId: Invalid input: expected string, received undefined',
      'canonical: Invalid input: expected boolean, received undefined',
      'material: Invalid input: expected boolean, received undefined',
    ],
  },
  { body: { ...checkpoint, checkpointId: '' }, problems: [`checkpointId: ${BAD_ID}`] },
  { body: { ...checkpoint, checkpointId: 'a b' }, problems: [`checkpointId: ${BAD_ID}`] },
  { body: { ...checkpoint, checkpointId: 'a\n' }, problems: [`checkpointId: ${BAD_ID}`] },
  { body: { ...checkpoint, checkpointId: 'x'.repeat(129) }, problems: [`checkpointId: ${BAD_ID}`] },
  { body: { ...checkpoint, canonical: 1 }, problems: ['canonical: Invalid input: expected boolean, received number'] },
  {
    body: { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true },
    problems: ['outcome: is required on a material canonical checkpoint: its event carries it'],
  },
  {
    body: { ...checkpoint, outcome: { ...outcome, progress: 1.01 } },
    problems: ['outcome.progress: Too big: expected number to be <=1'],
  },
  {
    body: { ...checkpoint, outcome: { ...outcome, progress: -0.1 } },
    problems: ['outcome.progress: Too small: expected number to be >=0'],
  },
  { body: { ...action, actionVersion: 0 }, problems: ['actionVersion: Too small: expected number to be >=1'] },
  {
    body: { ...action, actionVersion: 1.5 },
    problems: ['actionVersion: Invalid input: expected int, received number'],
  },
  {
    body: { ...action, actionVersion: '1' },
    problems: ['actionVersion: Invalid input: expected number, received string'],
  },
  {
    body: { ...action, apiResolvable: 'yes' },
    problems: ['apiResolvable: Invalid input: expected boolean, received string'],
  },
  {
    body: { type: 'action_required', actionVersion: 1, approvalRequests: [primary] },
    problems: ['outcome: Invalid input: expected object, received undefined'],
  },
  { body: { ...action, approvalRequests: [request] }, problems: [ONE_PRIMARY] },
  { body: { ...action, approvalRequests: [primary, { ...primary, id: 'a2' }] }, problems: [ONE_PRIMARY] },
  { body: { ...action, approvalRequests: [primary, request] }, problems: [NO_REPEAT] },
  { body: { ...action, approvalRequests: [primary, primary] }, problems: [ONE_PRIMARY, NO_REPEAT] },
  {
    body: { ...action, approvalRequests: [] },
    problems: ['approvalRequests: Too small: expected array to have >=1 items', ONE_PRIMARY],
  },
  {
    body: { ...action, approvalRequests: [primary, { ...request, id: 'a2', title: '' }] },
    problems: ['approvalRequests.1.title: Too small: expected string to have >=1 characters'],
  },
  {
    body: { ...action, approvalRequests: [withProto({ id: 'a1', primary: true }, { title: 'inherited' })] },
    problems: ['approvalRequests.0.title: Invalid input: expected string, received undefined'],
  },
  {
    body: { ...action, decisionItems: [{ id: 'yes', label: 'Yes' }, { id: 'no' }] },
    problems: ['decisionItems.1.label: Invalid input: expected string, received undefined'],
  },
  {
    body: { ...action, decisionItems: [null] },
    problems: ['decisionItems.0: Invalid input: expected object, received null'],
  },
];
const noObjects = [
  { body: null, problems: [': Invalid input: expected object, received null'] },
  { body: 5, problems: [': Invalid input: expected object, received number'] },
  { body: 'start', problems: [': Invalid input: expected object, received string'] },
  { body: [], problems: [': Invalid input: expected object, received array'] },
  { body: [{ type: 'start' }], problems: [': Invalid input: expected object, received array'] },
];

test.each([
  ...refusals,
  ...noObjects,
  { body: { type: 'start', taskId: 'task_1' }, problems: [': Unrecognized key: "taskId"'] },
  { body: withProto({ type: 'start' }, {}), problems: [': Unrecognized key: "__proto__"'] },
])('a report $body is refused: $problems', ({ body, problems }) => {
  expect(problemsOf(TransitionReport, body)).toEqual(problems);
});

test('a __proto__ within an outcome or a request is dropped, and nothing is inherited from it', () => {
  const report = TransitionReport.parse({
    ...action,
    outcome: withProto(outcome, { progress: 'canary' }),
    approvalRequests: [withProto(primary, { description: 'canary' })],
  });
  expect(report).toStrictEqual({ ...action, decisionItems: [] });
  expect(report).not.toHaveProperty('outcome.progress');
  expect(report).not.toHaveProperty('approvalRequests.0.description');
});

type Sizes = { requests: number; items: number; title: number; label: number; request: number; item: number };

const LARGEST: Sizes = { requests: 50, items: 100, title: 256, label: 256, request: 4_096, item: 1_024 };

function actionOf({ requests, items, title, label, request, item }: Sizes) {
  const text = (length: number) => 'x'.repeat(length);
  return {
    ...action,
    approvalRequests: Array.from({ length: requests }, (_, index) => ({
      id: `a${index}`,
      primary: index === 0,
      title: text(title),
      description: text(request),
    })),
    decisionItems: Array.from({ length: items }, (_, index) => ({
      id: `d${index}`,
      label: text(label),
      description: text(item),
    })),
  };
}

test('an action may be as large as every limit at once', () => {
  expect(problemsOf(TransitionReport, actionOf(LARGEST))).toEqual([]);
});

test.each<{ over: Partial<Sizes>; path: string }>([
  { over: { requests: 51 }, path: 'approvalRequests' },
  { over: { items: 101 }, path: 'decisionItems' },
  { over: { title: 257, requests: 1 }, path: 'approvalRequests.0.title' },
  { over: { request: 4_097, requests: 1 }, path: 'approvalRequests.0.description' },
  { over: { label: 257, items: 1 }, path: 'decisionItems.0.label' },
  { over: { item: 1_025, items: 1 }, path: 'decisionItems.0.description' },
])('an action with $over is refused at $path', ({ over, path }) => {
  const { error } = TransitionReport.safeParse(actionOf({ ...LARGEST, ...over }));
  expect(error?.issues.map((issue) => [issue.code, issue.path.join('.')])).toEqual([['too_big', path]]);
});

test('a batch item is a report and the Task it is about', () => {
  expect(BatchItem.parse({ taskId: 'task_1', type: 'done', result: 1 })).toStrictEqual({
    taskId: 'task_1',
    report: { type: 'done', result: 1 },
  });
});

test.each(refusals)(
  'a batch item $body is refused as the single report is, by the places its sender knows',
  (refusal) => {
    const item = { ...(refusal.body as object), taskId: 'task_1' };
    expect(problemsOf(BatchItem, item)).toEqual(refusal.problems);
  },
);

test.each([
  ...noObjects,
  { body: { type: 'start' }, problems: ['taskId: Invalid input: expected string, received undefined'] },
  { body: { type: 'start', taskId: 5 }, problems: ['taskId: must be the id of a Task'] },
  { body: { type: 'start', taskId: 'x'.repeat(65) }, problems: ['taskId: must be the id of a Task'] },
  {
    body: withProto({ type: 'start' }, { taskId: 'task_1' }),
    problems: ['taskId: Invalid input: expected string, received undefined', ': Unrecognized key: "__proto__"'],
  },
  { body: { taskId: 'task_1', report: { type: 'start' } }, problems: [NO_TYPE] },
  { body: withProto({ taskId: 'task_1' }, { type: 'start' }), problems: [NO_TYPE] },
])('a batch item $body is refused: $problems', ({ body, problems }) => {
  expect(problemsOf(BatchItem, body)).toEqual(problems);
});

test('a batch takes items of any kind, so that one bad item spoils no other', () => {
  const transitions = [null, 5, [], 'x', {}, { taskId: 'task_1', type: 'start' }];
  expect(TransitionBatch.parse({ transitions })).toEqual({ transitions });
});

test.each([
  { when: 'no items', body: { transitions: [] }, problem: 'transitions: Too small: expected array to have >=1 items' },
  {
    when: 'one item too many',
    body: { transitions: Array(BATCH_LIMIT + 1).fill(null) },
    problem: 'transitions: Too big: expected array to have <=500 items',
  },
  { when: 'no list', body: {}, problem: 'transitions: Invalid input: expected array, received undefined' },
  { when: 'another field', body: { transitions: [1], dryRun: true }, problem: ': Unrecognized key: "dryRun"' },
  { when: 'a list alone', body: [], problem: ': Invalid input: expected object, received array' },
])('a batch with $when is refused', ({ body, problem }) => {
  expect(problemsOf(TransitionBatch, body)).toEqual([problem]);
});

test('a batch of 500 is accepted', () => {
  expect(BATCH_LIMIT).toBe(500);
  expect(TransitionBatch.safeParse({ transitions: Array(500).fill(null) }).success).toBe(true);
});

describe('projection', () => {
  const outcome = { summary: 'so far' };

  function action(fields: object): ActionRequiredReport {
    const base = { type: 'action_required', actionVersion: 3, outcome };
    return TransitionReport.parse({
      ...base,
      approvalRequests: [{ id: 'a1', title: 'Pay?', primary: true }],
      ...fields,
    }) as ActionRequiredReport;
  }

  test.each<{ kept: Outcome; said: unknown }>([
    { said: { summary: 's' }, kept: { summary: 's' } },
    { said: { summary: '', progress: 0 }, kept: { summary: '', progress: 0 } },
    { said: { summary: 's', progress: 1, note: 'x', Summary: 'x' }, kept: { summary: 's', progress: 1 } },
  ])('of the outcome $said only $kept leaves', ({ said, kept }) => {
    expect(projectOutcome(Outcome.parse(said))).toStrictEqual(kept);
  });

  test('of an action only the primary request leaves, and of request and items only what is named safe', () => {
    const report = action({
      approvalRequests: [
        { id: 'a2', title: 'Other', description: 'x' },
        { id: 'a1', title: 'Pay?', description: '', primary: true, tool: 'bank' },
      ],
      decisionItems: [
        { id: 'yes', label: 'Yes', description: 'Pays', weight: 1 },
        { id: 'no', label: 'No' },
      ],
      apiResolvable: true,
    });
    expect(projectAction(report, 'https://app.example/x')).toStrictEqual({
      approval_request: { id: 'a1', title: 'Pay?', description: '' },
      action_version: 3,
      decision_items: [
        { id: 'yes', label: 'Yes', description: 'Pays' },
        { id: 'no', label: 'No' },
      ],
      api_resolvable: true,
      action_url: 'https://app.example/x',
    });
  });

  test('an action with its defaults shows an empty list and false, never nothing', () => {
    expect(projectAction(action({}), 'https://app.example/x')).toStrictEqual({
      approval_request: { id: 'a1', title: 'Pay?' },
      action_version: 3,
      decision_items: [],
      api_resolvable: false,
      action_url: 'https://app.example/x',
    });
  });

  test('an action without a primary request can’t be shown', () => {
    const report: ActionRequiredReport = { ...action({}), approvalRequests: [] };
    expect(() => projectAction(report, '')).toThrow('exactly one primary');
  });
});
