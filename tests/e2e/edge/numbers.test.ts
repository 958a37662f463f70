import { isReplayed, under } from '../../support/idempotency-records.ts';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf, type Problem } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

const MESSAGE = 'would read back as another number; send it as a string';
const BATCH = '/api/internal/transitions';

let herald: Herald;
let workspace: WorkspaceClient;

beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
  workspace = await herald.createWorkspace();
});
afterAll(() => herald[Symbol.asyncDispose]());

const createTask = (input: string, options = {}) =>
  workspace.request('POST', '/tasks', { ...options, rawBody: `{"input":${input}}` });
const reportDone = (id: string, fields: string) => `{"taskId":"${id}","type":"done",${fields}}`;
const reportBatch = (items: readonly string[], options = {}) =>
  herald.executor.request('POST', BATCH, { ...options, rawBody: `{"transitions":[${items.join(',')}]}` });

test.each([
  ['larger than any double', '1e400'],
  ['below any double', '-1e400'],
  ['smaller than any double', '1e-400'],
  ['a whole one beyond 2^53', '9007199254740993'],
  ['one with cents beyond 2^53', '12345678901234567.89'],
  ['one of 100,000 digits', '9'.repeat(100_000)],
])('a number that is %s is refused by its place, and not taken for another', async (_what, literal) => {
  const problem = problemOf(await createTask(`{"id":1,"list":["x",{"amount":${literal}}]}`));
  expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
  expect(problem.errors).toMatchObject([{ path: 'input.list.1.amount', message: `input.list.1.amount ${MESSAGE}` }]);
});

test('several such numbers are listed, the first ten of them', async () => {
  const { errors } = problemOf(await createTask(`[${Array(12).fill('1e400').join(',')}]`));
  expect(errors?.map(({ path }) => path)).toEqual(Array.from({ length: 10 }, (_, index) => `input.${index}`));
});

test('the answer is short, however deep they lie and whatever leads to them', async () => {
  const deep = `${`{"${'k'.repeat(200)}":`.repeat(80)}[1e400,1e400]${'}'.repeat(80)}`;
  const answer = await createTask(deep);
  expect(problemOf(answer).status).toBe(422);
  expect(answer.text.length).toBeLessThan(5_000);
});

test.each([
  ['registration', () => workspace.request('POST', '/api/public/webhooks', { rawBody: '{"url":1e400}' })],
  [
    'body that none belongs to',
    () => workspace.request('POST', `/tasks/task_${'0'.repeat(26)}/cancel`, { rawBody: '[1e400]' }),
  ],
  [
    'report',
    () =>
      herald.executor.request('POST', `/api/internal/tasks/task_${'0'.repeat(26)}/transitions`, {
        rawBody: '{"usage":{"cents":1e400}}',
      }),
  ],
  [
    'batch, outside of its items',
    () => herald.executor.request('POST', BATCH, { rawBody: '{"transitions":[],"x":1e400}' }),
  ],
])('a %s with such a number is refused', async (_where, send) => {
  expect(problemOf(await send())).toMatchObject({
    status: 422,
    errors: [{ message: expect.stringContaining(MESSAGE) as string }],
  });
});

test('other numbers are read back as they were sent', async () => {
  const input = '[9007199254740992,-9007199254740991,0.1,0.30000000000000004,1e+30,1.7976931348623157e+308,5e-324,0]';
  const created = bodyOf(await createTask(input), 201) as { id: string };
  const { text } = await herald.executor.request('GET', `/api/internal/tasks/${created.id}`);
  expect(text).toContain(`"input":${input}`);
});

test('in a batch an item with such a number is its own problem and spoils no other', async () => {
  const tasks = await Promise.all(Array.from({ length: 3 }, () => workspace.createTask()));
  for (const { id } of tasks) await herald.executor.report(id, { type: 'start' });
  const [a = '', b = '', c = ''] = tasks.map(({ id }) => id);
  const answer = await reportBatch([
    reportDone(a, '"usage":{"cents":0.30000000000000004}'),
    reportDone(b, '"usage":{"cents":[1,9007199254740993,1e400]}'),
    '1e400',
    reportDone(c, `"result":"1e400","usage":12`),
  ]);
  const { results } = bodyOf(answer, 200) as { results: { status?: string; error?: Problem }[] };
  expect(results.map(({ status, error }) => ({ status, errors: error?.errors }))).toMatchObject([
    { status: 'done' },
    { errors: [{ path: 'usage.cents.1', code: 'invalid', message: `usage.cents.1 ${MESSAGE}` }] },
    { errors: [{ path: '', pointer: '', message: `the item ${MESSAGE}` }] },
    { status: 'done' },
  ]);
  expect(await workspace.readTask(a)).toMatchObject({ usage: { cents: 0.1 + 0.2 } });
  expect(await workspace.readTask(b)).toMatchObject({ status: 'running' });
});

describe('under an Idempotency-Key', () => {
  test('a body that differs only in such a number is not taken for the one before', async () => {
    const first = await createTask('9007199254740992', under('rounded'));
    expect(first.status).toBe(201);
    const problem = problemOf(await createTask('9007199254740993', under('rounded')));
    expect(problem).toMatchObject({ code: 'validation_failed' });
    expect(isReplayed(await createTask('9007199254740992', under('rounded')))).toBe(true);
  });

  test('so is a batch, of which only the same text is the same', async () => {
    const { id } = await workspace.createTask();
    const batch = (literal: string) => reportBatch([`{"taskId":"${id}","type":"start"}`, literal], under('batch'));
    const first = await batch('9007199254740993');
    expect(first.status).toBe(200);
    expect(problemOf(await batch('9007199254740992'))).toMatchObject({ code: 'idempotency_conflict' });
    expect(problemOf(await batch('9007199254740995'))).toMatchObject({ code: 'idempotency_conflict' });
    const again = await batch('9007199254740993');
    expect(isReplayed(again)).toBe(true);
    expect(again.body).toEqual(first.body);
  });
});

test('a hostile batch of 4 MiB of numbers is judged at once', async () => {
  const answer = await reportBatch(['[' + '1e1,'.repeat(1_040_000) + '1e400]'], { deadlineMs: 5_000 });
  const { results } = bodyOf(answer, 200) as { results: { error?: Problem }[] };
  expect(results[0]?.error?.errors).toMatchObject([{ path: '1040000', message: `1040000 ${MESSAGE}` }]);
});
