import {
  createActionUrl,
  EVENT_NAMES as EVENT_NAMES_OF_HERALD,
  newSampleTaskId,
  newSampleTransitionId,
  newTaskId,
  renderSampleBody,
  renderTestBody,
  renderWebhookBody,
  TaskEventName,
} from '@herald/core';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_NAMES, EventFormatError, type HeraldEvent, isSample, parseEvent } from './event.ts';

const facts = {
  transitionId: 'trn_1',
  createdAt: Date.UTC(2030, 0, 2),
  sequence: 4,
  taskId: 'task_1',
  actionUrl: createActionUrl('https://app.example/tasks/{taskId}/actions/{actionVersion}'),
} as const;
const outcome = { summary: 'Grüße “so far”', progress: 0.5 };

const checkIn = renderWebhookBody({
  ...facts,
  event: 'task.check_in',
  status: 'running',
  report: { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true, outcome },
});
const requiresAction = renderWebhookBody({
  ...facts,
  event: 'task.requires_action',
  status: 'requires_action',
  report: {
    type: 'action_required',
    actionVersion: 2,
    approvalRequests: [{ id: 'a1', title: 'Pay?', description: '12 €', primary: true }],
    decisionItems: [{ id: 'yes', label: 'Yes' }],
    apiResolvable: true,
    outcome: { summary: 'waiting' },
  },
});
const done = renderWebhookBody({ ...facts, event: 'task.done', status: 'done', report: { type: 'done' } });
const canceled = renderWebhookBody({
  ...facts,
  event: 'task.canceled',
  status: 'canceled',
  report: { type: 'canceled' },
});
const testEvent = renderTestBody('trn_2', facts.createdAt);
const bodies = [checkIn, requiresAction, done, canceled, testEvent];

test('the kit knows every event that Herald sends', () => {
  expect(EVENT_NAMES).toEqual(EVENT_NAMES_OF_HERALD);
});

describe('the kit for Python', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const events = read('receiver-python/herald_receiver/events.py');

  test.each(EVENT_NAMES)('knows %s, as the receiver of the README does', (name) => {
    expect(events).toContain(`    event: Literal["${name}"]\n`);
    expect(events).toContain(`    "${name}": _object(`);
    expect(read('receiver/README.md')).toContain(`    case '${name}':\n`);
  });

  test('exports each of its types', () => {
    const names = [...events.matchAll(/^class ([A-Z]\w+)/gm)].map(([, name = '']) => name);
    const root = read('receiver-python/herald_receiver/__init__.py');
    expect(names.length).toBeGreaterThan(EVENT_NAMES.length);
    expect(names.filter((name) => !root.includes(`    "${name}",\n`))).toEqual([]);
  });
});

test('every body that Herald renders is read whole', () => {
  expect(bodies.map((body) => parseEvent(Buffer.from(body)))).toEqual(
    bodies.map((body) => JSON.parse(body) as unknown),
  );
});

/** Compiles only while every event has a type of its own with these fields. */
function describeEvent(event: HeraldEvent): string {
  switch (event.event) {
    case 'task.check_in':
      return event.outcome.summary;
    case 'task.requires_action':
      return `${event.approval_request.title} v${event.action_version} ${event.decision_items.length} ${event.action_url}`;
    case 'task.done':
    case 'task.canceled':
      return `${event.task.id} ${event.task.status} ${event.sequence}`;
    case 'webhook.test':
      return event.created_at;
    case 'unknown':
      return event.name;
  }
}

test('the name of an event tells its type', () => {
  expect(bodies.map((body) => describeEvent(parseEvent(body)))).toEqual([
    'Grüße “so far”',
    'Pay? v2 1 https://app.example/tasks/task_1/actions/2',
    'task_1 done 4',
    'task_1 canceled 4',
    '2030-01-02T00:00:00.000Z',
  ]);
});

test.each(TaskEventName.options)('a sample of %s is read whole, and is known as one', (event) => {
  const { createdAt } = facts;
  const body = renderSampleBody(event, {
    transitionId: newSampleTransitionId(),
    taskId: newSampleTaskId(createdAt),
    createdAt,
  });
  const parsed = parseEvent(body);
  expect(parsed).toEqual(JSON.parse(body));
  expect({ event: parsed.event, isSample: isSample(parsed) }).toEqual({ event, isSample: true });
});

test('no other event is taken for a sample', () => {
  const real = changed(done, (fields) => (fields.task = { id: newTaskId(Date.now()), status: 'done' }));
  const unknown = JSON.stringify({ id: 'trn_sample1', event: 'task.paused', task: 'task_sample' });
  for (const body of [...bodies, real, unknown]) expect(isSample(parseEvent(body))).toBe(false);
});

function changed(body: string, change: (fields: Record<string, unknown>) => void): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  change(fields);
  return JSON.stringify(fields);
}

test('fields and statuses of a later Herald are passed on', () => {
  const later = changed(done, (fields) => {
    fields.cost = { cents: 3 };
    fields.task = { id: 'task_1', status: 'archived', owner: 'me' };
  });
  expect(parseEvent(later)).toEqual(JSON.parse(later));
});

test('an event of a later Herald comes back as unknown, with its name and body', () => {
  const later = changed(done, (fields) => {
    fields.event = 'task.paused';
  });
  expect(parseEvent(later)).toEqual({
    event: 'unknown',
    id: 'trn_1',
    name: 'task.paused',
    body: JSON.parse(later) as unknown,
  });
});

test('an event that calls itself unknown, or is named like a part of every object, is unknown', () => {
  for (const name of ['unknown', 'toString', '__proto__', 'constructor']) {
    expect(parseEvent(JSON.stringify({ id: 'trn_1', event: name }))).toMatchObject({ event: 'unknown', name });
  }
});

test.each([
  ['', 'nonsense'],
  ['', '[]'],
  ['', 'null'],
  ['', ''],
  ['event', '{"id":"trn_1"}'],
  ['id', '{"event":"task.paused"}'],
  ['id', '{"event":"webhook.test","created_at":"x"}'],
  ['task', changed(done, (fields) => delete fields.task)],
  ['task.id', changed(done, (fields) => (fields.task = { status: 'done' }))],
  ['sequence', changed(done, (fields) => (fields.sequence = '4'))],
  ['outcome.progress', changed(checkIn, (fields) => (fields.outcome = { summary: '', progress: 'half' }))],
  [
    'decision_items[1].label',
    changed(requiresAction, (f) => (f.decision_items = [{ id: 'a', label: 'b' }, { id: 'c' }])),
  ],
  ['api_resolvable', changed(requiresAction, (fields) => (fields.api_resolvable = 'yes'))],
])('what is wrong at "%s" is said', (path, body) => {
  expect(() => parseEvent(body)).toThrow(expect.objectContaining({ name: 'EventFormatError', path }) as Error);
});

test('bytes that are no UTF-8 are no event', () => {
  expect(() => parseEvent(Buffer.from([0x22, 0xff, 0x22]))).toThrow('JSON in UTF-8');
});

test('a body that a parser has read is refused with what to change', () => {
  expect(() => parseEvent(JSON.parse(done) as string)).toThrow('it must be given raw, before any parser');
});

function faultOf(body: string | Uint8Array): unknown {
  try {
    return parseEvent(body);
  } catch (error) {
    return error;
  }
}

test('anything else is an event format error and no other', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), fc.uint8Array()), (body) => {
      expect(faultOf(body)).toEqual(expect.any(EventFormatError));
    }),
  );
});
