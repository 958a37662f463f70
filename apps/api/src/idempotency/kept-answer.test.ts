import { toAnswerBody, toKeptAnswer } from './kept-answer.ts';

function answer(statusCode: number, headers: Readonly<Record<string, string>> = {}) {
  return { statusCode, get: (name: string) => headers[name] };
}

test('a receiver is kept without its secret, with its status and place', () => {
  const res = answer(201, {
    location: '/api/public/webhooks/wh_1',
    'cache-control': 'no-store',
    'x-request-id': 'req_1',
  });
  expect(toKeptAnswer(res, '{"id":"wh_1","secret":"whsec_x"}', {})).toEqual({
    status: 201,
    headers: { location: '/api/public/webhooks/wh_1', 'cache-control': 'no-store' },
    body: { id: 'wh_1' },
  });
});

test("a Task is kept without its callback's secret", () => {
  const json = '{"id":"task_1","callback":{"url":"https://a.example/","secret":"whsec_x"}}';
  expect(toKeptAnswer(answer(201), json, {}).body).toEqual({ id: 'task_1', callback: { url: 'https://a.example/' } });
});

test('a portal link is kept without its token, and without the url that has it', () => {
  const json = '{"url":"/console#token=hrlp_x","token":"hrlp_x","expiresAt":"2030-01-31T12:00:00.000Z"}';
  expect(toKeptAnswer(answer(201), json, {}).body).toEqual({ expiresAt: '2030-01-31T12:00:00.000Z' });
});

test.each(['null', '[1]', '{"callback":null,"results":[{"secret":1}]}'])('%s is kept as it is', (json) => {
  expect(toKeptAnswer(answer(200), json, undefined).body).toEqual(JSON.parse(json));
});

test('a text that the request had is not kept, and stands in the answer to its repetition where it stood', () => {
  const asked = { text: 'canary', actionVersion: 1, status: 'other' };
  const json = '{"taskId":"task_1","text":"canary","actionVersion":1,"status":"done"}';
  const kept = toKeptAnswer(answer(200), json, asked);
  expect(JSON.stringify(kept)).not.toContain('canary');
  expect(JSON.stringify(toAnswerBody(kept, asked))).toBe(json);
});

test('an answer that a former version kept whole is given as it is', () => {
  const body = { taskId: 'task_1', text: 'kept' };
  expect(toAnswerBody({ status: 200, headers: {}, body }, { text: 'kept' })).toEqual(body);
});
