import { CreateTask, PatchReceiver, RegisterReceiver, TransitionBatch, TransitionReport } from '@herald/core';
import { findNearest, judgeJson, readFields, readInput } from './read-input.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test.each<[string, unknown]>([
  ['a number', 1],
  ['null', null],
  ['64 levels', nested(64)],
  ['a field named constructor', { constructor: { prototype: 1 } }],
])('%s is fine', (_name, value) => {
  expect(judgeJson(value)).toBeUndefined();
});

test.each([
  ['{"__proto__": 1}', '__proto__'],
  ['{"a": [0, {"b": {"__proto__": {"isAdmin": true}}}]}', 'a.1.b.__proto__'],
])('%s is refused, and the path says where', (text, path) => {
  expect(judgeJson(JSON.parse(text))).toEqual({ path, message: 'must not be used as the name of a field' });
});

test('65 levels are refused', () => {
  expect(judgeJson(nested(65))?.message).toBe('is nested deeper than 64 levels');
});

test('a long name is cut in the path', () => {
  const path = judgeJson(JSON.parse(`{"${'x'.repeat(100_000)}": {"__proto__": 1}}`))?.path;
  expect(path).toBe(`${'x'.repeat(64)}.__proto__`);
});

const FIELDS = ['url', 'events', 'description', 'enabled'];

test.each([
  ['event', 'events'],
  ['Events', 'events'],
  ['evnets', 'events'],
  ['URL', 'url'],
  ['urls', 'url'],
  ['desc', undefined],
  ['descripton', 'description'],
  ['enable', 'enabled'],
  ['secret', undefined],
  ['id', undefined],
  ['', undefined],
  ['x'.repeat(64), undefined],
])('%p most likely means %p', (name, meant) => {
  expect(findNearest(name, FIELDS)).toBe(meant);
});

test('where nothing is known nothing is meant', () => {
  expect(findNearest('url', [])).toBeUndefined();
});

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, at]));
const url = 'https://hooks.example.com/in';

test.each([
  ['unknown fields', RegisterReceiver, { url, ...many(30_000) }],
  ['headers', RegisterReceiver, { url, headers: many(25_000) }],
  ['headers of a change', PatchReceiver, { headers: many(25_000) }],
  ['headers of a callback', CreateTask, { input: 1, callback: { url, headers: many(25_000) } }],
  ['events', RegisterReceiver, { url, events: Array(25_000).fill('task.none') }],
  ['parts of an unknown field', PatchReceiver, { input: many(25_000) }],
  ['fields of a report', TransitionReport, { type: 'start', ...many(25_000) }],
])('an input with thousands of %s is refused before each of them is looked at', (_what, schema, value) => {
  expect(() => readInput(schema, value)).toThrow('the body has more than 1000 values');
});

test.each([
  ['a Task', CreateTask, { input: many(20_000) }],
  ['the end of a Task', TransitionReport, { type: 'done', result: many(20_000) }],
  [
    'a request for approval',
    TransitionReport,
    {
      type: 'action_required',
      actionVersion: 1,
      approvalRequests: [{ id: 'a', title: 'b', primary: true, changes: many(20_000) }],
      decisionItems: [{ id: 'yes', label: 'Yes', more: many(2_000) }],
      outcome: { summary: 's' },
    },
  ],
])('what may be any JSON of %s may have as many values as fit', (_what, schema, value) => {
  expect(readInput(schema, value)).toMatchObject(value);
});

test('a batch may have as many reports as it may, whatever they have', () => {
  const transitions = Array.from({ length: 100 }, () => ({ type: 'done', result: many(200) }));
  expect(readFields(TransitionBatch, { transitions })).toEqual({ transitions });
});
