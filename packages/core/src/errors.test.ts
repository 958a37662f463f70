import { ReceiverDisabledError, ReceiverLockedError } from './errors.ts';

const TAIL = '01kes8t4a0q3m1y5b9z7x2c6vd';

test.each([
  [`wh_${TAIL}`, `PATCH /api/public/webhooks/wh_${TAIL}`],
  [`cb_${TAIL}`, `PATCH /tasks/task_${TAIL}/callback`],
])('the refusal to send to %s names the operation that enables it', (id, operation) => {
  const { message, endpointId } = new ReceiverDisabledError(id);
  expect(message).toBe(`${id} is disabled; enable it first: ${operation} with {"enabled": true}`);
  expect(endpointId).toBe(id);
});

test('the refusal of a locked receiver says who locked it, why, and whom to ask', () => {
  const id = `wh_${TAIL}`;
  const ask = `${id} is locked by the platform; ask it to lift the lock`;
  expect(new ReceiverLockedError(id, 'It floods us.').message).toBe(`${ask}; its reason: It floods us.`);
  expect(new ReceiverLockedError(id, '').message).toBe(ask);
});
