import type { Delivery } from '@herald/core';
import { toAttemptView } from './attempt-view.ts';
import { toDeliveryView } from './delivery-view.ts';

test.each([
  ['tls_expired', 'tls_expired'],
  ['tls_failed', 'tls_failed'], // also what a former version wrote for every failure of TLS
  ['quic_failed', 'connection_failed'], // of a newer version's worker
])('the recorded code %s of an attempt is shown as %s', (error, shown) => {
  expect(toAttemptView({ at: 0, durationMs: 1, error })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    durationMs: 1,
    error: shown,
  });
});

test.each([
  ['schedule_exhausted', { reason: 'schedule_exhausted' }],
  ['of_a_newer_version', {}],
  [undefined, {}],
])('the recorded reason %p of a delivery is shown as %j', (reason, shown) => {
  const delivery: Delivery = {
    id: 'dlv_a',
    workspaceId: 'ws_a',
    endpointId: 'wh_a',
    transitionId: 'trn_a',
    event: 'task.done',
    status: 'failed',
    createdAt: 0,
    tries: 10,
    scheduledAt: 0,
    owedAttempts: 0,
    ...(reason !== undefined && { reason }),
  };
  const { reason: seen } = toDeliveryView(delivery);
  expect({ ...(seen !== undefined && { reason: seen }) }).toEqual(shown);
});
