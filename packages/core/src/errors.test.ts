import { ReceiverDisabledError } from './errors.ts';

const TAIL = '01kes8t4a0q3m1y5b9z7x2c6vd';

test.each([
  [`wh_${TAIL}`, `PATCH /api/public/webhooks/wh_${TAIL}`],
  [`cb_${TAIL}`, `PATCH /tasks/task_${TAIL}/callback`],
])('the refusal to send to %s names the operation that enables it', (id, operation) => {
  const { message, endpointId } = new ReceiverDisabledError(id);
  expect(message).toBe(`${id} is disabled; enable it first: ${operation} with {"enabled": true}`);
  expect(endpointId).toBe(id);
});
