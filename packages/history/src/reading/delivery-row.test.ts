import { deliveryIdOf, newSampleTransitionId, newTestTransitionId } from '@herald/core';
import { toDeliveryId, toIdBytes, toTransitionId } from './delivery-row.ts';

const ids = Array.from({ length: 200 }, () => newTestTransitionId());

test('20 bytes lead back to the id', () => {
  for (const id of [...ids, newSampleTransitionId(), `trn_${'2'.repeat(32)}`, `trn_${'z'.repeat(32)}`]) {
    expect(toIdBytes(id)).toHaveLength(20);
    expect(toTransitionId(toIdBytes(id))).toBe(id);
    const deliveryId = deliveryIdOf(id, 'wh_1');
    expect(toDeliveryId(toIdBytes(deliveryId))).toBe(deliveryId);
  }
});

test('bytes have the order of the texts: a list goes on in PostgreSQL where it ends in Redis', () => {
  const byBytes = [...ids].sort((a, b) => Buffer.compare(toIdBytes(a), toIdBytes(b)));
  expect(byBytes).toEqual([...ids].sort());
});

test.each(['', 'dlv_', `dlv_${'1'.repeat(32)}`, `dlv_${'a'.repeat(31)}`, `dlv_${'a'.repeat(33)}`])(
  '%p is no such id',
  (id) => {
    expect(() => toIdBytes(id)).toThrow('is no id');
  },
);
