import type { Delivery } from '../deliveries/delivery.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { NOTICE_EVENTS } from '../events.ts';
import { deliveryIdOf } from '../ids/ids.ts';
import { draftNotice, NOTICE_PAYLOADS, PLATFORM } from './notice.ts';

const AT = Date.UTC(2030, 0, 2, 3, 4, 5, 6);
const SUFFIX = '01kes8t4a0q3m1y5b9z7x2c6vd';
const delivery: Delivery = {
  id: `dlv_${'a'.repeat(32)}`,
  workspaceId: 'ws_1',
  endpointId: `wh_${SUFFIX}`,
  transitionId: `trn_${'a'.repeat(32)}`,
  taskId: `task_${SUFFIX}`,
  event: 'task.done',
  status: 'pending',
  createdAt: AT,
  tries: 0,
  scheduledAt: AT,
  owedAttempts: 0,
};
const receiver: Endpoint = {
  id: `wh_${SUFFIX}`,
  workspaceId: 'ws_1',
  url: 'https://hooks.example.com/in?a="b"',
  events: [],
  description: 'never told',
  enabled: true,
  createdAt: AT,
};
const callback = { ...receiver, id: `cb_${SUFFIX}` };

const bodyOf = (fields: string) => JSON.parse(`{${fields}}`) as object;

test('a draft says which endpoint it is about and what its last attempt came to', () => {
  const draft = draftNotice(delivery, receiver, { at: AT, status: 410 }, AT + 20);
  expect(draft.kind).toBe('receiver');
  expect(bodyOf(draft.fields)).toEqual({
    created_at: '2030-01-02T03:04:05.026Z',
    workspace_id: 'ws_1',
    receiver: { id: receiver.id, url: receiver.url },
    last_attempt: { delivery_id: delivery.id, at: '2030-01-02T03:04:05.006Z', status: 410 },
  });
});

test('a draft about a callback names its Task', () => {
  const draft = draftNotice(delivery, callback, { at: AT, error: 'dns_failed' }, AT);
  expect(draft.kind).toBe('callback');
  expect(bodyOf(draft.fields)).toMatchObject({
    callback: { id: callback.id, url: callback.url, task_id: delivery.taskId },
    last_attempt: { error: 'dns_failed' },
  });
});

test('the ids follow from the attempt alone: a record that is sent twice makes one notice', () => {
  const of = (at: number, now: number) => draftNotice(delivery, receiver, { at, status: 500 }, now);
  const { transitionId, deliveryId } = of(AT, AT);
  expect(of(AT, AT + 1)).toMatchObject({ transitionId, deliveryId });
  expect(of(AT + 1, AT).transitionId).not.toBe(transitionId);
  expect(deliveryId).toBe(deliveryIdOf(transitionId, PLATFORM));
});

test.each(NOTICE_EVENTS)('the example of %s fits its schema', (event) => {
  const [example] = NOTICE_PAYLOADS[event].meta()?.examples ?? [];
  expect(NOTICE_PAYLOADS[event].parse(example)).toEqual(example);
});
