import { isCodeOf, READINESS_CODES } from '@herald/core';
import { GROUP_HEALTHS } from '@herald/queue';
import { answerWithin, rememberFor } from '@herald/runtime/async';
import { error, type Finding } from '@herald/runtime/finding';
import { createBuildRegistry, type MetricsRegistry } from '@herald/runtime/metrics';
import { Gauge } from '@prometheus-io/client';
import type { Readiness } from './create-readiness.ts';
import type { ServiceState, ShardState } from './create-service-state-reader.ts';

// What API and worker show to Prometheus of the store. The CLI shows nothing, and loads none of it.

/** However many scrapes come, Redis is asked at most once in this time, in ms. */
const REMEMBERED_MS = 1_000;
/** A scrape waits at most this long for Redis, in ms. */
const STATE_LIMIT_MS = 1_500;

/** Renders the answer to a scrape, in Prometheus' text format. */
export function createExposition(registry: MetricsRegistry, readServiceState: () => Promise<ServiceState>) {
  const show = addServiceGauges(registry);
  // The log and the readiness of the process tell that Redis is away.
  const read = rememberFor(REMEMBERED_MS, () => {
    const state: Promise<ServiceState | undefined> = readServiceState().catch(() => undefined);
    return answerWithin(STATE_LIMIT_MS, state, () => undefined);
  });
  return {
    contentType: registry.contentType as string,
    render: async (): Promise<string> => {
      show(await read());
      return await registry.metrics();
    },
  };
}

export type Exposition = ReturnType<typeof createExposition>;

/** What a process shows while it waits for a Redis that can be used: it lives, isn't ready, and says why. */
export function createWaitingView(process: 'api' | 'worker') {
  let problem: Finding | undefined;
  const readReadiness = (): Promise<Readiness> =>
    Promise.resolve({ status: 'unavailable', problems: problem ? [problem] : [], warnings: [], workers: null });
  const registry = createBuildRegistry(process);
  addFindingGauge(registry, readReadiness);
  return {
    show: (cause: Finding): void => {
      problem = toProblem(cause);
    },
    readReadiness,
    /** Of the build, why it waits, and that nothing is known of the service. */
    exposition: createExposition(registry, () =>
      Promise.reject(new Error('there is no Redis yet that could be asked')),
    ),
  };
}

/** The page is open to everybody: the sentence of the cause may name users and addresses, and the log has it. */
function toProblem({ code }: Finding): Finding {
  return error(
    isCodeOf(READINESS_CODES, code) ? code : 'redis_away',
    `Redis can't be used yet (${code}), and this process waits for it; "herald doctor" says what to do`,
  );
}

/** Shows what `/readyz` says, so that alerts tell it by the same names. Every scrape calls `readReadiness`. */
export function addFindingGauge(
  registry: MetricsRegistry,
  readReadiness: () => Promise<Pick<Readiness, 'problems' | 'warnings'>>,
): void {
  new Gauge({
    name: 'herald_finding',
    help: '1 for each problem (`error`: the process is not ready) and warning of /readyz, by its code.',
    labelNames: ['code', 'level'],
    registers: [registry],
    async collect() {
      const { problems, warnings } = await readReadiness();
      this.reset();
      for (const { code, level } of [...problems, ...warnings]) this.set({ code, level }, 1);
    },
  });
}

/** Every scrape calls `skewMs`. */
export function addClockGauge(registry: MetricsRegistry, skewMs: () => number): void {
  new Gauge({
    name: 'herald_clock_skew_seconds',
    help: "How far this machine's clock is ahead of Redis' time; negative: behind.",
    registers: [registry],
    collect() {
      this.set(skewMs() / 1_000);
    },
  });
}

/** Shows whether a process still has the data that it works on. */
export function createDataMetrics(registry: MetricsRegistry) {
  const lost = new Gauge({
    name: 'herald_data_lost',
    help: 'Whether the data that this process works on has vanished from Redis.',
    registers: [registry],
  });
  return {
    showLoss: (isLost: boolean) => {
      lost.set(isLost ? 1 : 0);
    },
  };
}

/** The label of the one queue that a shard has. */
const QUEUE = 'deliveries';

/**
 * Adds the gauges of what all processes share. Every process shows the same numbers: aggregate by `max`, never by
 * `sum`.
 * @returns a function that shows a state, and nothing out of date when it couldn't be read (undefined)
 */
export function addServiceGauges(registry: MetricsRegistry): (state: ServiceState | undefined) => void {
  const gauge = <Label extends string>(name: `herald_${string}`, help: string, ...labelNames: readonly Label[]) =>
    new Gauge({ name, help: `${help} Of the whole service: aggregate by max.`, labelNames, registers: [registry] });
  const known = gauge('herald_service_state_known', 'Whether the gauges of the whole service could be read.');
  const totals = {
    workers: gauge('herald_workers', 'Workers seen lately.'),
    usedBytes: gauge('herald_redis_memory_used_bytes', 'Memory that Redis uses.'),
    emptyIn: gauge(
      'herald_queue_empty_in_seconds',
      'When what is due will be sent, at the rate of the last minute or two; +Inf: never, as much comes as goes.',
    ),
    limitBytes: gauge('herald_redis_memory_limit_bytes', 'Memory that Redis may use; 0 without a limit.'),
  };
  const perShard = {
    jobs: gauge('herald_queue_jobs', 'Deliveries in the queue, by state.', 'shard', 'queue', 'state'),
    oldestDue: gauge(
      'herald_queue_oldest_due_seconds',
      'For how long the first delivery has waited that only waits for a worker.',
      'shard',
      'queue',
    ),
    receivers: gauge(
      'herald_waiting_receivers',
      'Receivers with waiting deliveries; callbacks of a workspace to one origin count as one. State stopped: an operator has paused it.',
      'shard',
      'state',
    ),
    deliveries: gauge('herald_receiver_due_deliveries', 'Deliveries that are due, and wait.', 'shard', 'state'),
    oldest: gauge(
      'herald_receiver_oldest_due_seconds',
      'For how long the oldest of these has been due.',
      'shard',
      'state',
    ),
    replays: gauge('herald_replays_running', 'Replays under way.', 'shard'),
    settled: gauge(
      'herald_history_waiting_deliveries',
      'Settled deliveries that Redis keeps for the history.',
      'shard',
    ),
    setAside: gauge(
      'herald_history_set_aside_deliveries',
      'Those of them that could not be moved, and are tried again each hour.',
      'shard',
    ),
    oldestSettled: gauge(
      'herald_history_oldest_waiting_seconds',
      'For how long the first of these has been settled. Usually it is RETENTION.',
      'shard',
    ),
  };
  const perWorkspace = {
    pending: gauge(
      'herald_workspace_pending_deliveries',
      'Pending deliveries of the ten workspaces that hold the most.',
      'workspace',
    ),
    bytes: gauge(
      'herald_workspace_held_bytes',
      'Roughly what the Tasks, facts, bodies, attempts and kept answers of these take in Redis.',
      'workspace',
    ),
  };
  const showShard = ({ queue, runningReplays, settled }: ShardState, shard: string, at: number) => {
    const secondsSince = (time = at) => Math.max(0, at - time) / 1_000;
    for (const state of ['waiting', 'active', 'delayed'] as const) {
      perShard.jobs.set({ shard, queue: QUEUE, state }, queue[state]);
    }
    perShard.oldestDue.set({ shard, queue: QUEUE }, secondsSince(queue.oldestDueAt));
    for (const state of GROUP_HEALTHS) {
      const { groups, due, oldestDueAt } = queue.byHealth[state];
      perShard.receivers.set({ shard, state }, groups);
      perShard.deliveries.set({ shard, state }, due);
      perShard.oldest.set({ shard, state }, secondsSince(oldestDueAt));
    }
    perShard.receivers.set({ shard, state: 'not_looked_at' }, queue.groupsNotLookedAt);
    perShard.replays.set({ shard }, runningReplays);
    perShard.settled.set({ shard }, settled.count);
    perShard.setAside.set({ shard }, settled.aside);
    perShard.oldestSettled.set({ shard }, secondsSince(settled.oldestAt));
  };
  return (state) => {
    known.set(state ? 1 : 0);
    for (const each of Object.values(totals)) each.remove();
    for (const each of [...Object.values(perShard), ...Object.values(perWorkspace)]) each.reset();
    if (!state) return;
    for (const [shard, shardState] of state.shards.entries()) showShard(shardState, String(shard), state.at);
    totals.workers.set(state.workers);
    totals.emptyIn.set(state.emptyInMs === undefined ? Infinity : state.emptyInMs / 1_000);
    for (const { workspaceId: workspace, pending, bytes } of state.workspaces) {
      perWorkspace.pending.set({ workspace }, pending);
      perWorkspace.bytes.set({ workspace }, bytes);
    }
    if (!state.memory) return;
    totals.usedBytes.set(state.memory.usedBytes);
    totals.limitBytes.set(state.memory.limitBytes);
  };
}
