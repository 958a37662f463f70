import { EVENT_NAMES } from '@herald/core';
import { createCounter, createMetricsRegistry, type MetricsRegistry } from '@herald/runtime/metrics';
import type { ApiKey } from '@herald/store/access/api-key-store';
import { createDeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import { createRedisMetrics } from '@herald/store/redis/open-connections';
import { createDataMetrics } from '@herald/store/operators/exposition';
import { Gauge } from '@prometheus-io/client';
import { createRequestMetrics } from './http/log-requests.ts';

const CONNECTIONS = ['herald-api', 'herald-api-subscriber', 'herald-api-confirm', 'herald-api-operators'];

/** The metrics of an API process. */
export function createApiMetrics() {
  const registry = createMetricsRegistry('api');
  return {
    registry,
    requests: createRequestMetrics(registry),
    acceptance: createAcceptanceMetrics(registry),
    deliveries: createDeliveryMetrics(registry),
    redis: createRedisMetrics(registry, CONNECTIONS),
    data: createDataMetrics(registry),
    listening: createListenMetrics(registry),
    history: createHistoryMetrics(registry),
    keys: createKeyMetrics(registry, Date.now),
  };
}
export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** The `event` of a transition that emits nothing. */
export const NO_EVENT = 'none';

/** Counts what could not be read from the history. */
function createHistoryMetrics(registry: MetricsRegistry) {
  return {
    unavailable: createCounter(
      registry,
      'herald_history_unavailable_total',
      'Reads of the history, and erasures in it, that failed or took too long.',
      [],
      [{}],
    ),
  };
}

/** A key that was used within this time is one that somebody works with, in ms. */
const IN_USE_MS = 3_600_000;

/**
 * Shows when executor keys end: nobody reports any more then. Those of workspaces are their customers' affair.
 * @param now epoch ms
 */
export function createKeyMetrics(registry: MetricsRegistry, now: () => number) {
  const inUse = new Map<string, { readonly expiresAt: number; readonly usedAt: number }>();
  new Gauge({
    name: 'herald_executor_key_ends_seconds',
    help: 'For how long the executor key that ends first is still valid, of those that this process saw within the last hour. Absent: none of them ends.',
    registers: [registry],
    collect() {
      const at = now();
      for (const [id, { usedAt }] of inUse) if (at - usedAt > IN_USE_MS) inUse.delete(id);
      const ends = [...inUse.values()].map(({ expiresAt }) => expiresAt);
      if (ends.length === 0) this.remove();
      else this.set((Math.min(...ends) - at) / 1_000);
    },
  });
  return {
    used: ({ id, scopes, expiresAt }: Pick<ApiKey, 'id' | 'scopes' | 'expiresAt'>): void => {
      if (expiresAt !== undefined && scopes.includes('execute')) inUse.set(id, { expiresAt, usedAt: now() });
    },
  };
}

/** Counts the reports of executors and the requests of customers. */
function createAcceptanceMetrics(registry: MetricsRegistry) {
  const withoutLabels = (name: `herald_${string}_total`, help: string) => createCounter(registry, name, help, [], [{}]);
  return {
    accepted: createCounter(
      registry,
      'herald_transitions_accepted_total',
      'Transitions accepted, by the event that they emit; duplicates apart.',
      ['event'],
      [...EVENT_NAMES.filter((event) => event !== 'webhook.test'), NO_EVENT].map((event) => ({ event })),
    ),
    repeated: withoutLabels('herald_transitions_duplicate_total', 'Reports of transitions that were known before.'),
    refused: createCounter(
      registry,
      'herald_transitions_refused_total',
      'Reports of transitions that were refused, by the code of the problem.',
      ['code'],
    ),
    testSent: createCounter(
      registry,
      'herald_test_events_total',
      'Test operations, by how they ended.',
      ['outcome'],
      ['delivered', 'not_delivered', 'unavailable'].map((outcome) => ({ outcome })),
    ),
    redeliveryRequested: withoutLabels('herald_redeliveries_total', 'Redeliveries that were asked for.'),
    replayRequested: withoutLabels('herald_replays_total', 'Replays that were asked for.'),
  };
}

/** Shows the streams of listeners, and counts what they are sent. */
export function createListenMetrics(registry: MetricsRegistry) {
  const open = new Gauge({
    name: 'herald_listeners',
    help: 'Listeners that are connected to this process.',
    registers: [registry],
  });
  const withoutLabels = (name: `herald_${string}_total`, help: string) => createCounter(registry, name, help, [], [{}]);
  return {
    showOpen: (count: number) => {
      open.set(count);
    },
    sent: withoutLabels('herald_listen_events_total', 'Events that listeners of this process were sent.'),
    publishFailed: withoutLabels(
      'herald_listen_publish_failures_total',
      'Events that this process accepted and could not tell listeners of. Their deliveries are not affected.',
    ),
  };
}
export type ListenMetrics = ReturnType<typeof createListenMetrics>;
