import { NOTICE_EVENTS } from '@herald/core';
import { createMetricsRegistry } from '@herald/runtime/metrics';
import { createDeliveryMetrics } from './create-delivery-metrics.ts';

test.each(NOTICE_EVENTS)(
  'the count of lost %s is there before the first, so that its alert sees it rise',
  async (event) => {
    const registry = createMetricsRegistry('worker');
    const metrics = createDeliveryMetrics(registry);
    const read = async (reason: string) => {
      const labels = `event="${event}",outcome="failed",reason="${reason}"`;
      return (await registry.metrics())
        .split('\n')
        .find((line) => line.includes(labels))
        ?.split(' ')
        .at(-1);
    };
    expect([await read('schedule_exhausted'), await read('too_old')]).toEqual(['0', '0']);
    metrics.settled({ event, status: 'failed', reason: 'too_old' });
    expect([await read('schedule_exhausted'), await read('too_old')]).toEqual(['0', '1']);
  },
);
